package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// StartAt names a place to begin.
type StartAt string

// The places where a pipeline's first plan may begin.
const (
	StartEarliest StartAt = "earliest"
	StartLatest   StartAt = "latest"
	StartTime     StartAt = "time"
	StartOffsets  StartAt = "offsets"
)

// Start says where a pipeline's first plan begins. It has no bearing on later plans, nor on partitions that are added
// later: these are read from their beginning.
type Start struct {
	At      StartAt          // default earliest
	Time    time.Time        // for StartTime: from the first record at or after it, by the records' own timestamps
	Offsets map[string]int64 // for StartOffsets: by "topic/3"; partitions that are not named start at their beginning
}

// String is the place as the pipeline file writes it.
func (s Start) String() string {
	switch s.At {
	case "":
		return string(StartEarliest)
	case StartTime:
		return s.Time.UTC().Format(time.RFC3339Nano)
	case StartOffsets:
		offsets := make([]string, 0, len(s.Offsets))
		for _, name := range slices.Sorted(maps.Keys(s.Offsets)) {
			offsets = append(offsets, fmt.Sprintf("%s: %d", name, s.Offsets[name]))
		}
		return "{" + strings.Join(offsets, ", ") + "}"
	}
	return string(s.At)
}

// ParseStart reads "earliest", "latest", or a time in RFC 3339.
func ParseStart(s string) (Start, error) {
	switch at := StartAt(strings.ToLower(s)); at {
	case "", StartEarliest, StartLatest:
		return Start{At: at}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return Start{}, fmt.Errorf("%q is not a place to start: write earliest, latest, or a time such as 2026-01-31T08:00:00Z", s)
	}
	return Start{At: StartTime, Time: t}, nil
}

func (s Start) check(topics []string, found *faults) {
	choice(found, "start", s.At, StartEarliest, StartLatest, StartTime, StartOffsets)
	if (s.At == StartTime) == s.Time.IsZero() {
		found.add("start", "a time belongs to start at a time, and only to that")
	}
	if (s.At == StartOffsets) != (len(s.Offsets) > 0) {
		found.add("start", "offsets belong to start at offsets, and only to that")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Offsets)) {
		p, err := parsePartition(name)
		switch {
		case err != nil:
			found.add("start", "%v", err)
		case !slices.Contains(topics, p.topic):
			found.add("start", "%s is of a topic that is not among topics", name)
		}
		if s.Offsets[name] < 0 {
			found.add("start", "offset %d of %s is negative", s.Offsets[name], name)
		}
	}
}

// start resolves Config.Start. Partitions that it leaves out begin where their log does when they are first planned.
func (s *Source) start(ctx context.Context) (positions, error) {
	at := s.cfg.Start.At
	if at == "" || at == StartEarliest {
		return positions{}, nil
	}
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	switch at {
	case StartOffsets:
		return startAtOffsets(v, s.cfg.Start.Offsets)
	case StartTime:
		return s.startAtTime(ctx, v)
	}
	started := positions{}
	for p, b := range v.bounds {
		started.set(p, v.topics[p.topic].id, b.end(s.cfg.Isolation))
	}
	return started, nil
}

func startAtOffsets(v *view, offsets map[string]int64) (positions, error) {
	started := positions{}
	for _, name := range slices.Sorted(maps.Keys(offsets)) {
		p, err := parsePartition(name)
		if err != nil {
			return nil, err
		}
		b, ok := v.bounds[p]
		if !ok {
			return nil, &MissingError{Name: name}
		}
		if offsets[name] > b.high {
			return nil, fmt.Errorf("start %s at offset %d: the partition ends at %d; write an offset up to that", name, offsets[name], b.high)
		}
		started.set(p, v.topics[p.topic].id, offsets[name])
	}
	return started, nil
}

// startAtTime begins at the first record of that time or later. A partition that has none begins at the end that the view
// saw, which is before any record that comes later.
func (s *Source) startAtTime(ctx context.Context, v *view) (positions, error) {
	started := positions{}
	err := s.cluster.retry(ctx, "look up the offsets of the start time", func(ctx context.Context) error {
		t, err := s.cluster.refresh(ctx, s.cfg.Topics, v.at)
		if err != nil {
			return err
		}
		partitions := (&topology{topics: v.topics}).partitions()
		ms := s.cfg.Start.Time.Add(time.Millisecond - 1).UnixMilli() // records have whole milliseconds
		offsets, err := s.cluster.listOffsets(ctx, t, partitions, ms, ReadUncommitted)
		if err != nil {
			return err
		}
		for p, offset := range offsets {
			if offset < 0 {
				offset = v.bounds[p].high
			}
			started.set(p, v.topics[p.topic].id, offset)
		}
		return nil
	})
	return started, err
}

func (ps positions) set(p partition, id string, offset int64) {
	t := ps[p.topic]
	if t == nil {
		t = &topicPosition{id: id, next: map[int32]int64{}}
		ps[p.topic] = t
	}
	t.next[p.number] = offset
}
