package proof

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// TestCompactedTopicIsReadWithItsGapsAndTombstones has the position within records that vanish: 30 notes of 10 keys, of which
// the first batch reads 13, then tombstones for three keys. Offsets are ids up to the first tombstone.
func TestCompactedTopicIsReadWithItsGapsAndTombstones(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 1)
	source := kafkaSource(broker.Cluster, topic) + "\n  format: {json: {tombstones: drop}}"
	s := j.site(t, source, noteColumns, "")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	send := func(key string, values ...[]byte) {
		t.Helper()
		for _, value := range values {
			r := &kgo.Record{Topic: topic, Key: []byte(key), Value: value}
			must(t, func() error { return client.ProduceSync(t.Context(), r).FirstErr() })
		}
	}
	for i := range 30 {
		send(fmt.Sprint("key ", i%10), p.next(1)...)
	}
	s.configure(t, pipelineName, source, noteColumns, "", "batch: {max_records: 13}")
	s.finish(t, "--max-batches", "1")
	broker.Configure(t, topic, "cleanup.policy=compact", "segment.ms=500", "min.cleanable.dirty.ratio=0.001",
		"max.compaction.lag.ms=1000", "delete.retention.ms=600000")
	for key := range 3 {
		send(fmt.Sprint("key ", key), nil)
	}
	p.lose(13, 23)
	kafkatest.Eventually(t, "wait for the compaction", func() error {
		send(fmt.Sprint("note ", p.notes), p.next(1)...) // begins a segment, so that the one before can be compacted
		if left := offsetsBelow(t, broker, topic, 33); left != 10 {
			return fmt.Errorf("%d of the first 33 offsets are left", left)
		}
		return nil
	})
	s.configure(t, pipelineName, source, noteColumns, "", "batch: {max_records: 4}") // so that some batches are a gap
	wants(t, s.finish(t, "--log-level", "debug"), "batch has no rows")
	if status := s.status(t); status.Tombstones != 3 || status.Positions[0].Position != status.Positions[0].End {
		t.Errorf("status: %d tombstones, want 3; %+v", status.Tombstones, status.Positions)
	}
	s.check(t, p)
	j.judge(t)
}

// offsetsBelow counts the records before an offset of a topic of one partition, which has some from there on.
func offsetsBelow(t *testing.T, broker *kafkatest.Node, topic string, end int64) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := broker.Client(t, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	defer client.Close()
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			if r.Offset >= end {
				return n
			}
			n++
		}
	}
}
