package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// view is the bounds of all partitions of the topics, at one time and of one incarnation of each topic.
type view struct {
	at     time.Time
	topics map[string]*topicInfo
	bounds map[partition]bounds
}

// bounds are the offsets that a partition's leader names: start <= stable <= high.
type bounds struct {
	start  int64 // first offset that the log has
	stable int64 // last stable offset: first offset of an open transaction, or high
	high   int64 // high watermark: first offset that is not replicated yet
}

// end is where reading has to stop under the isolation level.
func (b bounds) end(level Isolation) int64 {
	if level == ReadUncommitted {
		return b.high
	}
	return b.stable
}

// Special timestamps of ListOffsets.
const (
	askLatest   = -1
	askEarliest = -2
)

// view asks for the bounds of all partitions of the topics, which must exist.
func (c *cluster) view(ctx context.Context, topics []string) (*view, error) {
	var found *view
	var grace patience
	err := c.retry(ctx, "look up the topics' offsets", func(ctx context.Context) error {
		v, err := c.look(ctx, topics, &grace)
		found = v
		return err
	})
	return found, err
}

// view asks for the bounds of all partitions. A topic that has a position and does not exist any more is a *DeletedError.
func (s *Source) view(ctx context.Context) (*view, error) {
	v, err := s.cluster.view(ctx, s.cfg.Topics)
	var missing *MissingError
	if errors.As(err, &missing) && s.snapshotPositions()[missing.Name] != nil {
		return nil, &DeletedError{Name: missing.Name}
	}
	return v, err
}

// look is one attempt at a view. The topics' ids are asked before and after, so that all bounds are of one incarnation.
func (c *cluster) look(ctx context.Context, topics []string, grace *patience) (*view, error) {
	before, err := c.metadata(ctx, topics)
	if err != nil {
		return nil, err
	}
	for _, name := range topics {
		if before.topics[name] == nil {
			return nil, grace.missing(name, &MissingError{Name: name})
		}
	}
	partitions := before.partitions()
	all, err := c.askBounds(ctx, before, partitions)
	if err != nil {
		return nil, err
	}
	after, err := c.refresh(ctx, topics, time.Now())
	if err != nil {
		return nil, err
	}
	for name, t := range before.topics {
		if now := after.topics[name]; now == nil || now.id != t.id {
			return nil, fmt.Errorf("topic %s is being created again: %w", name, kerr.UnknownTopicID)
		}
	}
	return &view{at: before.at, topics: before.topics, bounds: all}, nil
}

// askBounds asks for the three bounds of each partition at once.
func (c *cluster) askBounds(ctx context.Context, t *topology, partitions []partition) (map[partition]bounds, error) {
	questions := [...]struct {
		timestamp int64
		level     Isolation
	}{{askEarliest, ReadUncommitted}, {askLatest, ReadCommitted}, {askLatest, ReadUncommitted}}
	var answers [len(questions)]map[partition]int64
	var errs [len(questions)]error
	var asked sync.WaitGroup
	for i, q := range questions {
		asked.Go(func() { answers[i], errs[i] = c.listOffsets(ctx, t, partitions, q.timestamp, q.level) })
	}
	asked.Wait()
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, err
	}
	all := make(map[partition]bounds, len(partitions))
	for _, p := range partitions {
		all[p] = ordered(answers[0][p], answers[1][p], answers[2][p])
	}
	return all, nil
}

// ordered are bounds of answers that were given at different times. Each bound only grows, so where one has overtaken the next, that
// one has grown at least as far since.
func ordered(start, stable, high int64) bounds {
	stable = max(stable, start)
	return bounds{start: start, stable: stable, high: max(high, stable)}
}

// partitions lists all partitions, by topic and number.
func (t *topology) partitions() []partition {
	var all []partition
	for _, name := range slices.Sorted(maps.Keys(t.topics)) {
		for _, n := range slices.Sorted(maps.Keys(t.topics[name].leaders)) {
			all = append(all, partition{topic: name, number: n})
		}
	}
	return all
}

// listOffsets asks the leaders for one offset of each partition: askEarliest, askLatest (the last stable offset under
// read_committed), or that of the first record at or after a timestamp in ms, -1 when there is none.
func (c *cluster) listOffsets(ctx context.Context, t *topology, partitions []partition, timestamp int64, level Isolation) (map[partition]int64, error) {
	byLeader := map[int32][]partition{}
	for _, p := range partitions {
		leader, err := t.leader(p)
		if err != nil {
			return nil, err
		}
		byLeader[leader] = append(byLeader[leader], p)
	}
	leaders := slices.Sorted(maps.Keys(byLeader))
	answers, errs := make([]*kmsg.ListOffsetsResponse, len(leaders)), make([]error, len(leaders))
	var asked sync.WaitGroup
	for i, leader := range leaders {
		asked.Go(func() {
			req := listRequest(byLeader[leader], timestamp, level)
			answers[i], errs[i] = req.RequestWith(ctx, c.client.Broker(int(leader)))
		})
	}
	asked.Wait()
	offsets := make(map[partition]int64, len(partitions))
	for i, leader := range leaders {
		if errs[i] != nil {
			return nil, fmt.Errorf("list offsets at broker %d: %w", leader, errs[i])
		}
		if err := collectOffsets(answers[i], offsets); err != nil {
			return nil, err
		}
	}
	for _, p := range partitions {
		if _, ok := offsets[p]; !ok {
			return nil, fmt.Errorf("list offsets: the broker's answer lacks %s", p)
		}
	}
	return offsets, nil
}

func listRequest(partitions []partition, timestamp int64, level Isolation) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	req.IsolationLevel = level.wire()
	for _, p := range partitions {
		if last := len(req.Topics) - 1; last < 0 || req.Topics[last].Topic != p.topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = p.topic
			req.Topics = append(req.Topics, t)
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition = p.number
		rp.Timestamp = timestamp
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, rp)
	}
	return req
}

func collectOffsets(resp *kmsg.ListOffsetsResponse, offsets map[partition]int64) error {
	for _, t := range resp.Topics {
		for _, rp := range t.Partitions {
			p := partition{topic: t.Topic, number: rp.Partition}
			err := kerr.ErrorForCode(rp.ErrorCode)
			if errors.Is(err, kerr.UnknownTopicOrPartition) { // deleted since the metadata was read
				err = kerr.NotLeaderForPartition
			}
			if err != nil {
				return fmt.Errorf("list offsets of %s: %w", p, err)
			}
			offsets[p] = rp.Offset
		}
	}
	return nil
}
