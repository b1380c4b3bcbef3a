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
	s.bounded = v
	return nil
}

// look is a new view, or that of Bound for the call of Next that follows on it: a run that begins asks once.
func (s *Source) look(ctx context.Context) (*view, error) {
	if v := s.bounded; v != nil {
		s.bounded = nil
		return v, nil
	}
	return s.view(ctx)
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
