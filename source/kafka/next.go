package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Next plans one range for each partition of the topics, from its position towards its end. Topics that are no longer
// configured keep an empty range, so that they go on where they stopped should they come back. Limits.MaxFiles has no
// bearing. The ranges are empty for a first plan that finds nothing, since it pins where the pipeline starts; when
// nothing is new and nothing is to be pinned, there are none.
//
// Errors: *RecreatedError, *DataLostError, *TruncatedError, *DeletedError, *MissingError.
func (s *Source) Next(ctx context.Context, limits source.Limits) (source.Planned, error) {
	v, err := s.look(ctx)
	if err != nil {
		return source.Planned{}, err
	}
	s.observe(v)
	positions := s.snapshotPositions()
	p, err := draft(v, positions, s.cfg, s.unpinned)
	if err != nil {
		return source.Planned{}, err
	}
	s.bound(p)
	if limits.MaxBytes > 0 {
		s.probe(ctx, v, p.parts)
		if err := ctx.Err(); err != nil {
			return source.Planned{}, fmt.Errorf("plan a Kafka batch: %w", context.Cause(ctx))
		}
	}
	for _, part := range p.parts {
		part.size, _ = s.sizes.of(part.partition)
	}
	planned := p.plan(limits)
	if !p.news(planned) && !s.unpinned {
		return source.Planned{}, nil
	}
	planned.Ranges = append(planned.Ranges, dormant(positions, s.cfg.Topics)...)
	planned.Notices = append(planned.Notices, s.unsaid(p.notices)...)
	return planned, nil
}

// unsaid leaves out what was said before, so that a plan that is made again does not repeat it.
func (s *Source) unsaid(notices []string) []string {
	var fresh []string
	for _, n := range notices {
		if !s.noted[n] {
			s.noted[n] = true
			fresh = append(fresh, n)
		}
	}
	return fresh
}

// planPart is one partition in the making of a plan.
type planPart struct {
	partition partition
	id        string
	lostFrom  int64 // position before the log's start; equals from when nothing is lost
	from      int64
	end       int64
	size      float64 // bytes per offset
}

func (p *planPart) available() int64 { return p.end - p.from }

// drafted is a plan before the limits.
type drafted struct {
	parts   []*planPart
	pins    bool // holds an incarnation that no plan knows
	notices []string
}

// draft compares the positions with what the cluster has. It is a pure function.
func draft(v *view, ps positions, cfg Config, first bool) (*drafted, error) {
	d := &drafted{}
	known, err := d.incarnations(v, ps, cfg)
	if err != nil {
		return nil, err
	}
	if err := vanished(v, known); err != nil {
		return nil, err
	}
	var gaps []offsetlog.Range
	for _, p := range (&topology{topics: v.topics}).partitions() {
		b := v.bounds[p]
		part := &planPart{partition: p, id: v.topics[p.topic].id, from: b.start}
		position, planned := known.of(p)
		switch {
		case !planned:
			part.lostFrom = b.start
			if known[p.topic] != nil && !first {
				d.notices = append(d.notices, fmt.Sprintf("%s is new: it is read from its beginning, offset %d", p, b.start))
			}
		case position > b.high:
			return nil, &TruncatedError{Partition: p.String(), Position: position, End: b.high}
		default:
			part.lostFrom = position
			part.from = max(position, b.start)
		}
		if gap := part.gap(); gap.Len() > 0 {
			gaps = append(gaps, gap)
			d.notices = append(d.notices, fmt.Sprintf("%s lost the offsets [%d, %d)", p, gap.From, gap.To))
		}
		part.end = max(part.from, b.end(cfg.Isolation))
		d.parts = append(d.parts, part)
	}
	if len(gaps) > 0 && cfg.OnDataLoss != LossSkipped {
		return nil, &DataLostError{Gaps: gaps}
	}
	return d, nil
}

// incarnations leaves out the positions of topics that were created again, or refuses them.
func (d *drafted) incarnations(v *view, ps positions, cfg Config) (positions, error) {
	known := maps.Clone(ps)
	for _, name := range slices.Sorted(maps.Keys(v.topics)) {
		t, now := known[name], v.topics[name]
		if t == nil || sameTopic(t.id, now.id) {
			continue
		}
		if cfg.TopicRecreated != RecreatedFromEarliest {
			return nil, &RecreatedError{Topic: name, Known: t.id, Found: now.id}
		}
		delete(known, name)
		d.pins = true
		d.notices = append(d.notices, fmt.Sprintf("topic %s was created again: its id was %s and is %s; it is read from its beginning, "+
			"and what the old topic held behind these positions is lost: %s", name, t.id, now.id, t))
	}
	return known, nil
}

// String lists the positions by partition.
func (t *topicPosition) String() string {
	text := ""
	for _, n := range slices.Sorted(maps.Keys(t.next)) {
		text += fmt.Sprintf(" %d:%d", n, t.next[n])
	}
	return "{" + text + " }"
}

// vanished refuses a topic that has lost partitions. Kafka never takes any away.
func vanished(v *view, ps positions) error {
	for _, name := range slices.Sorted(maps.Keys(v.topics)) {
		if ps[name] == nil {
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(ps[name].next)) {
			p := partition{topic: name, number: n}
			if _, ok := v.bounds[p]; !ok {
				return &DeletedError{Name: p.String()}
			}
		}
	}
	return nil
}

// gap is the range that is lost before the part.
func (p *planPart) gap() offsetlog.Range {
	return offsetlog.Range{Partition: p.partition.String(), ID: p.id, From: p.lostFrom, To: p.from, Lost: true}
}

// plan shares the limits over the parts.
func (d *drafted) plan(limits source.Limits) source.Planned {
	demands := make([]demand, len(d.parts))
	var turn int64
	for i, p := range d.parts {
		demands[i] = demand{records: p.available(), size: p.size}
		turn += p.from // moves on by the size of each batch, so that turns go round, also across restarts
	}
	var planned source.Planned
	for i, n := range share(demands, limits.MaxRecords, limits.MaxBytes, turn) {
		p := d.parts[i]
		if gap := p.gap(); gap.Len() > 0 {
			planned.Ranges = append(planned.Ranges, gap)
		}
		planned.Ranges = append(planned.Ranges, offsetlog.Range{Partition: p.partition.String(), ID: p.id, From: p.from, To: p.from + n})
		planned.Records += n
		planned.Bytes += int64(float64(n) * p.size)
		planned.More = planned.More || n < p.available()
	}
	return planned
}

// news says whether a plan moves any position, or names an incarnation that no plan knows.
func (d *drafted) news(planned source.Planned) bool {
	return d.pins || slices.ContainsFunc(planned.Ranges, func(r offsetlog.Range) bool { return r.Len() > 0 })
}

// dormant keeps the positions of topics that are not read at present.
func dormant(ps positions, topics []string) []offsetlog.Range {
	var ranges []offsetlog.Range
	for _, name := range slices.Sorted(maps.Keys(ps)) {
		if slices.Contains(topics, name) {
			continue
		}
		t := ps[name]
		for _, n := range slices.Sorted(maps.Keys(t.next)) {
			p := partition{topic: name, number: n}
			ranges = append(ranges, offsetlog.Range{Partition: p.String(), ID: t.id, From: t.next[n], To: t.next[n]})
		}
	}
	return ranges
}
