package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
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
	end               int64 // records at and behind it are not wanted
	level             Isolation
	maxBytes          int32
	maxPartitionBytes int32
	inflated          int // bytes to have ready for what comes compressed
}

// fetched is what one response brought.
type fetched struct {
	records *records // from the asked offset on; nil when they are lost
	next    int64    // where to go on: behind all that was looked at, records or not
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
	return req.process(&resp.Topics[0].Partitions[0], c.inflate, c.spare.Get().(*records))
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
	req.IsolationLevel = r.level.wire()
	req.SessionEpoch = -1 // no fetch session
	req.Topics = append(req.Topics, t)
	return req
}

// process takes a response apart. The position moves on only over batches that were read whole: one that can't be read is an
// error as soon as nothing before it is left to hand over.
func (r fetchRequest) process(resp *kmsg.FetchResponseTopicPartition, inflate *inflater, into *records) (fetched, error) {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return fetched{}, fmt.Errorf("fetch %s at offset %d: %w", r.partition, r.offset, err)
	}
	into.inflated = slices.Grow(into.inflated, r.inflated)
	w := walker{partition: r.partition, next: r.offset, end: r.end, inflate: inflate, records: into}
	if r.level == ReadCommitted {
		w.aborted = newAborted(resp.AbortedTransactions)
	}
	err := w.walk(resp.RecordBatches)
	if err == nil && len(resp.RecordBatches) > 0 {
		err = errNothing
	}
	if err != nil && w.next == r.offset {
		return fetched{}, &corruptError{partition: r.partition, offset: r.offset, cause: err}
	}
	return fetched{records: into, next: w.next, high: resp.HighWatermark, stable: resp.LastStableOffset}, nil
}

var errNothing = errors.New("the response holds no whole batch at or behind the offset")
