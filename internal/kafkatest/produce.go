package kafkatest

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Record makes a record with a value alone.
func Record(value string) *kgo.Record { return &kgo.Record{Value: []byte(value)} }

// Records makes n records with values "prefix-0" and so on.
func Records(prefix string, n int) []*kgo.Record {
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = Record(fmt.Sprintf("%s-%d", prefix, i))
	}
	return records
}

// Produce writes the records to one partition, in order.
func (c *Cluster) Produce(tb testing.TB, topic string, partition int32, records ...*kgo.Record) {
	tb.Helper()
	c.ProduceWith(tb, topic, partition, nil, records...)
}

// ProduceWith is Produce with options of the client, such as a codec.
func (c *Cluster) ProduceWith(tb testing.TB, topic string, partition int32, options []kgo.Opt, records ...*kgo.Record) {
	tb.Helper()
	options = append([]kgo.Opt{kgo.RecordPartitioner(kgo.ManualPartitioner())}, options...)
	send(tb, c.Client(tb, options...), topic, partition, records)
}

func send(tb testing.TB, client *kgo.Client, topic string, partition int32, records []*kgo.Record) {
	tb.Helper()
	for _, r := range records {
		r.Topic, r.Partition = topic, partition
	}
	if err := client.ProduceSync(within(tb), records...).FirstErr(); err != nil {
		tb.Fatalf("produce to %s/%d: %v", topic, partition, err)
	}
}

// Transaction is one that has begun.
type Transaction struct {
	client *kgo.Client
}

// Begin begins a transaction of its own id, with options of the client such as a timeout.
func (c *Cluster) Begin(tb testing.TB, options ...kgo.Opt) *Transaction {
	tb.Helper()
	id := fmt.Sprintf("%s-%d", tb.Name(), topics.Add(1))
	options = append([]kgo.Opt{kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID(id)}, options...)
	client := c.Client(tb, options...)
	if err := client.BeginTransaction(); err != nil {
		tb.Fatalf("begin transaction %s: %v", id, err)
	}
	return &Transaction{client: client}
}

// Produce writes records within the transaction.
func (t *Transaction) Produce(tb testing.TB, topic string, partition int32, records ...*kgo.Record) {
	tb.Helper()
	send(tb, t.client, topic, partition, records)
}

// Commit ends the transaction. Its marker may be written a little later.
func (t *Transaction) Commit(tb testing.TB) {
	tb.Helper()
	t.end(tb, kgo.TryCommit)
}

// Abort ends the transaction, so that its records do not count.
func (t *Transaction) Abort(tb testing.TB) {
	tb.Helper()
	t.end(tb, kgo.TryAbort)
}

func (t *Transaction) end(tb testing.TB, commit kgo.TransactionEndTry) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := t.client.EndTransaction(ctx, commit); err != nil {
		tb.Fatalf("end the transaction (commit %v): %v", commit, err)
	}
}

// AbortHanging ends the transactions that are open in a partition without their coordinator, as Kafka's own
// kafka-transactions.sh abort does.
func (c *Cluster) AbortHanging(tb testing.TB, topic string, partition int32) {
	tb.Helper()
	admin, ctx := c.admin(tb), within(tb)
	where := kadm.TopicsSet{}
	where.Add(topic, partition)
	found, err := admin.DescribeProducers(ctx, where)
	if err != nil {
		tb.Fatalf("describe the producers of %s/%d: %v", topic, partition, err)
	}
	for _, p := range found.SortedProducers() {
		if p.CurrentTxnStartOffset < 0 {
			continue
		}
		written, err := admin.WriteTxnMarkers(ctx, kadm.TxnMarkers{
			ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, CoordinatorEpoch: max(p.CoordinatorEpoch, 0), Topics: where,
		})
		if err != nil {
			tb.Fatalf("abort the transaction at offset %d of %s/%d: %v", p.CurrentTxnStartOffset, topic, partition, err)
		}
		written.EachPartition(func(r kadm.TxnMarkersPartitionResponse) {
			if r.Err != nil {
				tb.Fatalf("abort the transaction at offset %d of %s/%d: %v", p.CurrentTxnStartOffset, topic, partition, r.Err)
			}
		})
	}
}
