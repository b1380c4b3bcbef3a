package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// message reads an entry of a message set (magic 0 or 1), which may hold many messages. Only what was written before Kafka 0.11,
// or by clients as old, is in this form, so that the client's own decoder is fast enough.
func (w *walker) message(raw []byte) error {
	options := kgo.ProcessFetchPartitionOpts{Offset: w.next, Topic: w.partition.topic, Partition: w.partition.number}
	resp := kmsg.FetchResponseTopicPartition{Partition: w.partition.number, RecordBatches: raw}
	got, next := kgo.ProcessFetchPartition(options, &resp, w.inflate, nil)
	if got.Err != nil {
		return got.Err
	}
	previous := w.next - 1
	for _, r := range got.Records {
		if r.Offset <= previous || r.Offset >= next {
			return fmt.Errorf("offset %d comes after %d in a message set that ends before %d", r.Offset, previous, next)
		}
		previous = r.Offset
	}
	for _, r := range got.Records {
		if r.Offset < w.end {
			w.records.add(r.Offset, r.Timestamp.UnixMilli(), r.Key, r.Value)
		}
	}
	w.records.held += int64(len(raw))
	w.next = max(w.next, min(next, w.end))
	return nil
}
