package model

import (
	"errors"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/table"
)

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// append appends the next batch of the application.
func (s *step) append() error {
	batch, has := s.batches[s.app]
	if has {
		batch++
	}
	return s.appendBatch(batch)
}

// replay appends a batch once more, with other rows: it is to be refused, however the table was restored meanwhile.
func (s *step) replay() error {
	newest, has := s.batches[s.app]
	if !has {
		return s.append()
	}
	err := s.appendBatch(s.random.Int64N(newest + 1))
	if err == nil {
		s.fatalf("a batch is in the table again")
	}
	s.excused = errors.As(err, new(*commitlog.FencedError))
	return err
}

func (s *step) appendBatch(batch int64) error {
	ctx := s.tb.Context()
	a, err := s.table.Begin(ctx, s.create)
	if err != nil {
		return err
	}
	err = s.write(a)
	if err == nil {
		s.between()
		var done table.Committed
		done, err = a.Commit(ctx, table.Batch{ID: batch, UserMetadata: s.label})
		s.version = done.Version
	}
	if err != nil {
		return errors.Join(err, a.Abort(ctx))
	}
	return nil
}

func (s *step) write(a *table.Append) error {
	n := 1 + s.random.IntN(30)
	record, made, err := makeRows(s.random, a.Schema(), s.nextID, n)
	if err != nil {
		return err
	}
	s.nextID += int64(n)
	s.ask("append", func(before rows) rows { return before.with(made) })
	defer record.Release()
	return a.Write(s.tb.Context(), record)
}

// checkpoint writes a log checkpoint of the version that the handle knows, which others may have left behind.
func (s *step) checkpoint() error {
	_, err := s.table.Log().Checkpoint(s.tb.Context())
	return err
}

// cleanup deletes what of the log has expired. Handles that have not looked at it for an hour look again, as after a longer pause they
// do: no time passes for them here.
func (s *step) cleanup() error {
	if s.inner {
		return nil
	}
	c, err := s.table.Log().PlanCleanup(s.tb.Context(), commitlog.CleanupOptions{Now: s.clock})
	if err != nil {
		return err
	}
	s.oldest = max(s.oldest, c.From)
	s.between()
	done, err := c.Run(s.tb.Context(), nil)
	s.tracef("    deleted %v before version %d: %s", done, c.From, c.Why)
	for i, h := range s.handles {
		if h != s.handle {
			h.close()
			s.handles[i] = s.open(h.app)
		}
	}
	return err
}

func (s *step) vacuum() error     { return s.runVacuum(false) }
func (s *step) liteVacuum() error { return s.runVacuum(true) }

func (s *step) runVacuum(lite bool) error {
	plan, err := vacuum.NewPlan(s.tb.Context(), s.store, vacuum.Options{Lite: lite, Now: s.clock})
	if err != nil {
		return err
	}
	if plan.Before.After(s.whole) {
		s.whole = plan.Before
	}
	s.between()
	found, err := plan.Run(s.tb.Context(), nil)
	s.tracef("    deleted %d removed files and %d orphans", found.Removed.Files, found.Orphans.Files)
	return err
}

func (s *step) sweep() error {
	_, err := s.table.Sweep(s.tb.Context())
	return err
}

// restore restores any version. One that a cleanup or a vacuum may have touched need not be there.
func (s *step) restore() error {
	ctx := s.tb.Context()
	version := s.random.Int64N(s.newest() + 1)
	to, err := s.table.Snapshot(ctx, version)
	if err != nil {
		s.excused = version < s.oldest && errors.Is(err, commitlog.ErrNoVersion)
		return err
	}
	r, err := s.table.PlanRestore(ctx, to)
	if err != nil {
		return err
	}
	s.between()
	if err := r.Check(ctx, to); err != nil {
		s.excused = !s.intact(to.Version())
		return err
	}
	if r.Nothing() {
		return nil
	}
	s.version, err = r.Put(ctx)
	return err
}
