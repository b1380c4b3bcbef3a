package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetchWait is how long a broker may hold a fetch that finds nothing. A planned range is there, so this is rare; it is
// short since a broker answers the requests of a connection one after the other.
const fetchWait = 250 * time.Millisecond

// fetchRequest asks for the records of one partition from offset on.
type fetchRequest struct {
	partition         partition
	topicID           [16]byte // brokers since Kafka 3.1 refuse a fetch under another id
	offset            int64
	level             kgo.IsolationLevel
	wireLevel         int8
	maxBytes          int32
	maxPartitionBytes int32
}

// fetched is what one response brought.
type fetched struct {
	records []*kgo.Record // offsets ascend, from the asked one on
	next    int64         // where to go on: behind all that was looked at, records or not
	bytes   int64         // of keys, values and headers
	high    int64
	stable  int64
	lost    bool // the offsets up to next are gone
}

// fetch sends one request to the leader, without retries. Its errors hold a *kerr.Error when a broker gave one, and are a
// *corruptError when a batch can't be read.
func (c *cluster) fetch(ctx context.Context, leader int32, req fetchRequest) (fetched, error) {
	resp, err := req.wire().RequestWith(ctx, c.client.Broker(int(leader)))
	if err != nil {
		return fetched{}, fmt.Errorf("fetch from broker %d: %w", leader, err)
	}
	c.connected.Store(true)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return fetched{}, fmt.Errorf("fetch from broker %d: %w", leader, err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 || resp.Topics[0].Partitions[0].Partition != req.partition.number {
		return fetched{}, fmt.Errorf("fetch %s from broker %d: the answer is not about it", req.partition, leader)
	}
	return req.process(&resp.Topics[0].Partitions[0], c.inflate)
}

func (r fetchRequest) wire() *kmsg.FetchRequest {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition = r.partition.number
	p.FetchOffset = r.offset
	p.PartitionMaxBytes = r.maxPartitionBytes
	t := kmsg.NewFetchRequestTopic()
	t.Topic = r.partition.topic
	t.TopicID = r.topicID
	t.Partitions = append(t.Partitions, p)
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis = int32(fetchWait.Milliseconds())
	req.MinBytes = 1
	req.MaxBytes = r.maxBytes
	req.IsolationLevel = r.wireLevel
	req.SessionEpoch = -1 // no fetch session
	req.Topics = append(req.Topics, t)
	return req
}

// process decodes a response. The position moves on only over batches that were read whole: one that can't be read is an
// error as soon as nothing before it is left to hand over.
func (r fetchRequest) process(resp *kmsg.FetchResponseTopicPartition, inflate kgo.Decompressor) (fetched, error) {
	options := kgo.ProcessFetchPartitionOpts{
		Offset: r.offset, IsolationLevel: r.level, Topic: r.partition.topic, Partition: r.partition.number,
	}
	got, next := kgo.ProcessFetchPartition(options, resp, inflate, nil)
	f := fetched{records: got.Records, next: next, high: resp.HighWatermark, stable: resp.LastStableOffset}
	if err := r.judge(&f, got.Err, len(resp.RecordBatches)); err != nil {
		return fetched{}, err
	}
	last := r.offset - 1
	for _, rec := range f.records {
		if rec.Offset <= last || rec.Offset >= f.next {
			return fetched{}, r.corrupt(fmt.Errorf("record %d is out of order: after %d, before %d", rec.Offset, last, f.next))
		}
		last = rec.Offset
		f.bytes += recordBytes(rec)
	}
	return f, nil
}

func (r fetchRequest) judge(f *fetched, err error, size int) error {
	var code *kerr.Error
	switch {
	case errors.As(err, &code):
		return fmt.Errorf("fetch %s at offset %d: %w", r.partition, r.offset, code)
	case err != nil && len(f.records) > 0:
		f.next = f.records[len(f.records)-1].Offset + 1
	case err != nil:
		return r.corrupt(err)
	case f.next < r.offset, f.next == r.offset && size > 0:
		return r.corrupt(errors.New("it holds fewer records than it says"))
	}
	return nil
}

func (r fetchRequest) corrupt(cause error) error {
	return &corruptError{partition: r.partition, offset: r.offset, cause: cause}
}

// recordBytes is the size of a record as limits count it.
func recordBytes(r *kgo.Record) int64 {
	n := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return int64(n)
}
