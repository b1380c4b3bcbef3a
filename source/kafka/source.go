// Package kafka reads Kafka topics: exactly the planned offsets, by direct assignment.
//
// It is a source.Source. Next asks the leaders for the bounds of every partition and plans one range for each, empty ones
// included, so that the newest plan is the whole position. Read fetches the ranges with requests of its own and hands
// them over partition by partition. There is no consumer group, so nothing rebalances; the offsets that Committed gives
// to a group are for monitoring tools and are never read back. A partition is named "topic/3", and the topic's id (KIP-516)
// is the ID of its ranges, so that a topic deleted and created again is not taken for the one that was read.
//
// Invariants:
//
//   - A range is read when the fetch position has passed its end, not when its last record was seen: markers, aborted
//     records, compacted records and empty batches take offsets and bring no record.
//   - A record batch counts when its checksum is right and all of its records can be read. Else none of them is emitted, and
//     once it is fetched again and no better, it is an error with topic, partition and offset.
//   - Nothing outside a range is emitted, and offsets ascend.
//   - Under read_committed a plan ends at the last stable offset, else at the high watermark.
//   - A partition without a position is read from its beginning, whatever Start says, but for a pipeline's first plan.
//   - Offsets that the broker no longer has are a DataLostError, or, under on_data_loss: skip, ranges marked Lost.
//   - A broker that does not answer is waited for, told to Config.Outages, once it has answered before.
package kafka

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Source is the topics of one pipeline. As a source.Source, it is not safe for concurrent use, except for Lag.
type Source struct {
	cfg      Config
	cluster  *cluster
	sizes    *sizes
	watch    *watch
	noted    map[string]bool     // notices of Next that were given
	unpinned bool                // the positions hold what no recorded plan holds yet
	ends     map[partition]int64 // where Bound stops Next; nil: nowhere
	bounded  *view               // what Bound saw, for the next call of Next; nil: it asks

	mu        sync.Mutex // guards what Lag shares with the rest
	positions positions
	latest    *view
	stalls    map[string]stall
}

var _ source.Source = (*Source)(nil)

// New checks the settings and makes a source of them; it does not connect. Its error is a *ConfigError that lists all
// faults.
func New(cfg Config) (*Source, error) {
	options, err := cfg.options()
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("make a Kafka client for %s: %w", cfg.address(), err)
	}
	return &Source{
		cfg:       cfg,
		cluster:   newCluster(client, cfg),
		sizes:     newSizes(),
		watch:     newWatch(),
		noted:     map[string]bool{},
		positions: positions{},
		stalls:    map[string]stall{},
	}, nil
}

// Close ends the connections, and with them what waits for answers. It returns nil.
func (s *Source) Close() error {
	s.cluster.client.Close()
	s.watch.running.Wait()
	return nil
}

// Restore folds the history into positions. For a pipeline without a past it resolves Config.Start, for which it asks
// the brokers, unless that is earliest.
func (s *Source) Restore(ctx context.Context, history source.History) error {
	restored := positions{}
	if history.Batches != nil {
		err := history.Batches(func(batch int64, ranges []offsetlog.Range) error {
			if err := restored.apply(ranges); err != nil {
				return fmt.Errorf("restore Kafka positions from batch %d: %w", batch, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if history.First {
		first, err := s.start(ctx)
		if err != nil {
			return err
		}
		restored = first
		s.unpinned = true
	}
	s.mu.Lock()
	s.positions = restored
	s.mu.Unlock()
	return nil
}

// Advance moves the positions to the ends of the ranges. Ranges that are not of a Kafka plan are left out; Restore is
// where they are an error.
func (s *Source) Advance(_ int64, ranges []offsetlog.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range ranges {
		if p, err := parsePartition(r.Partition); err == nil {
			s.positions.advance(p, r)
		}
	}
	s.unpinned = false
}

// Keep does nothing: every plan holds the position of every partition.
func (s *Source) Keep(context.Context, int64) error { return nil }

func (s *Source) snapshotPositions() positions {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := make(positions, len(s.positions))
	for topic, t := range s.positions {
		copied[topic] = &topicPosition{id: t.id, next: maps.Clone(t.next)}
	}
	return copied
}
