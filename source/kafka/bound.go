package kafka

import (
	"context"
)

// Bound makes Next plan no further than what the topics hold now, so that a run over what is available ends although
// producers go on. Partitions that are added later have nothing to plan.
func (s *Source) Bound(ctx context.Context) error {
	v, err := s.view(ctx)
	if err != nil {
		return err
	}
	s.ends = make(map[partition]int64, len(v.bounds))
	for p, b := range v.bounds {
		s.ends[p] = b.end(s.cfg.Isolation)
	}
	return nil
}

// bound cuts a draft at the ends that Bound fixed.
func (s *Source) bound(d *drafted) {
	if s.ends == nil {
		return
	}
	for _, p := range d.parts {
		p.end = min(p.end, max(p.from, s.ends[p.partition]))
	}
}
