package files

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// Next plans the oldest waiting files, as many as the limits let in. It fails when a seen file has been overwritten and
// that is to be an error.
func (s *Source) Next(ctx context.Context, limits source.Limits) (source.Planned, error) {
	if s.broken != nil {
		return source.Planned{}, s.broken
	}
	chosen := s.pick(limits)
	if enough := len(chosen) < len(s.queue) || s.bounded && !s.overflow; enough {
		if unchanged, err := s.unchanged(ctx, chosen); err != nil {
			return source.Planned{}, err
		} else if unchanged {
			return s.planned(chosen), nil
		}
	}
	if err := s.relist(ctx); err != nil {
		return source.Planned{}, err
	}
	return s.planned(s.pick(limits)), nil
}

// relist replaces the queue by what the folder holds now.
func (s *Source) relist(ctx context.Context) error {
	sc, err := s.scan(ctx)
	if err != nil {
		return err
	}
	s.queue, s.overflow = sc.waiting, sc.overflow
	notices := sc.notices()
	for _, n := range notices {
		if !slices.Contains(s.said, n) {
			s.unsaid = append(s.unsaid, n)
		}
	}
	s.said = notices
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog = &sc.backlog
	return nil
}

// pick returns the beginning of the queue that the limits let in: at least one file if there is one.
func (s *Source) pick(limits source.Limits) []candidate {
	var files, bytes, records int64
	for _, c := range s.queue {
		files++
		bytes += c.size
		records += s.rates.estimate(c.key, c.size)
		if exceeds(files, limits.MaxFiles) || exceeds(bytes, limits.MaxBytes) || exceeds(records, limits.MaxRecords) {
			return s.queue[:max(1, files-1)]
		}
	}
	return s.queue
}

func exceeds(n, limit int64) bool { return limit > 0 && n > limit }

// unchanged tells whether files of an earlier listing are still what they were.
func (s *Source) unchanged(ctx context.Context, chosen []candidate) (bool, error) {
	keys := make([]string, len(chosen))
	for i, c := range chosen {
		keys[i] = c.key
	}
	infos, err := storage.StatAll(ctx, s.store, keys)
	if err != nil {
		return false, fmt.Errorf("list %s: %w", s.names.partition(s.glob.pattern), err)
	}
	for i, c := range chosen {
		if infos[i].Key == "" || versionOf(infos[i]) != c.version {
			return false, nil
		}
	}
	return true, nil
}

func (s *Source) planned(chosen []candidate) source.Planned {
	p := source.Planned{More: s.overflow || len(chosen) < len(s.queue), Notices: s.unsaid}
	s.unsaid = nil
	if len(chosen) > 0 {
		p.Ranges = make([]offsetlog.Range, 0, len(chosen))
	}
	for _, c := range chosen {
		p.Ranges = append(p.Ranges, s.asRange(c))
		p.Bytes += c.size
		p.Records += s.rates.estimate(c.key, c.size)
	}
	return p
}
