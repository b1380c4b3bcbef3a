package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/source"
)

// stall is a last stable offset that has not moved while an open transaction holds it.
type stall struct {
	stable int64
	since  time.Time
	high   int64 // high watermark at that time
}

// heldNotice is how long an open transaction may hold a last stable offset before that is said: those of stream processors
// are open for seconds all the time.
const heldNotice = 30 * time.Second

// observe keeps a view for Lag, and remembers since when each last stable offset is held. One that is held for long is said.
func (s *Source) observe(v *view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = v
	for p, b := range v.bounds {
		key := p.String()
		held, known := s.stalls[key]
		if known && held.stable != b.stable {
			s.cluster.outages.Over(heldWhat(key))
		}
		switch {
		case b.stable >= b.high:
			delete(s.stalls, key)
		case !known || held.stable != b.stable:
			s.stalls[key] = stall{stable: b.stable, since: v.at, high: b.high}
		case s.cfg.Isolation == ReadCommitted && v.at.Sub(held.since) >= heldNotice:
			s.cluster.outages.Report(heldWhat(key), held.since, &StalledError{key + ": " + held.note(b)})
		}
	}
}

// heldWhat is what an open transaction keeps a partition's reader from.
func heldWhat(partition string) string { return "read " + partition + " past its last stable offset" }

// Lag tells the distances as the newest call of Next saw them; before the first, it asks the brokers. End is the last
// stable offset under read_committed, else the high watermark. Safe for concurrent use.
func (s *Source) Lag(ctx context.Context) ([]source.Lag, error) {
	s.mu.Lock()
	seen := s.latest != nil
	s.mu.Unlock()
	if !seen {
		v, err := s.view(ctx)
		if err != nil {
			return nil, err
		}
		s.observe(v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lags []source.Lag
	for _, p := range (&topology{topics: s.latest.topics}).partitions() {
		lags = append(lags, s.lag(p, s.latest.bounds[p]))
	}
	return lags, nil
}

// lag is called with mu held.
func (s *Source) lag(p partition, b bounds) source.Lag {
	position, known := s.positions.of(p)
	if !known {
		position = b.start
	}
	l := source.Lag{Partition: p.String(), Position: position, End: b.end(s.cfg.Isolation)}
	t, now := s.positions[p.topic], s.latest.topics[p.topic]
	held, stalled := s.stalls[p.String()]
	switch {
	case t != nil && !sameTopic(t.id, now.id):
		l.Note = fmt.Sprintf("the topic was created again: its id was %s and is %s", t.id, now.id)
	case known && position < b.start:
		l.Note = fmt.Sprintf("the offsets [%d, %d) are lost: the log starts at %d", position, b.start, b.start)
	case known && position > b.high:
		l.Note = fmt.Sprintf("the log was cut: it ends at %d, before the position", b.high)
	case stalled && s.cfg.Isolation == ReadCommitted:
		l.Note = held.note(b)
	}
	return l
}

func (h stall) note(b bounds) string {
	since := h.since.UTC().Format(time.RFC3339)
	if b.high > h.high {
		return fmt.Sprintf("the last stable offset %d does not move while the high watermark grows (now %d): "+
			"an open transaction holds it since %s or before", b.stable, b.high, since)
	}
	return fmt.Sprintf("an open transaction holds the last stable offset at %d, %d offsets before the high watermark, since %s or before",
		b.stable, b.high-b.stable, since)
}
