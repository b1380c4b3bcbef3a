package batch

import (
	"context"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// found is what a look at the source came to.
type found int

const (
	nothing found = iota
	few           // records, which wait for more of them
	all           // of what there was is in the table
	part          // of it is, and there is more
)

// loop plans and runs new batches until the trigger, MaxBatches or ctx ends it.
func (e *Engine) loop(ctx context.Context, done int64, m *maintenance) error {
	kind := e.Settings.Trigger.Kind
	if kind == AvailableNow {
		if err := e.Source.Bound(ctx); err != nil {
			return err
		}
	}
	e.tick = time.Now()
	for !e.enough(done) {
		if err := ctx.Err(); err != nil {
			return err
		}
		begun := time.Now()
		got, err := e.step(ctx)
		if err == nil {
			err = e.works(ctx)
		}
		if err != nil {
			return err
		}
		if got >= all {
			done++
			m.beside.caughtUp(got == all)
			m.look()
		}
		switch {
		case got == part, got == all && kind != Interval:
			continue
		case kind == AvailableNow:
			return nil
		}
		m.beside.waits()
		if err := e.wait(ctx, got, time.Since(begun)); err != nil {
			return err
		}
		m.beside.works()
	}
	return nil
}

// wait pauses after a look at the source that took so long. A position behind empty batches that has waited long is
// committed first.
func (e *Engine) wait(ctx context.Context, got found, took time.Duration) error {
	if time.Since(e.committedAt) >= emptyFor {
		if err := e.commitPending(ctx); err != nil {
			return err
		}
	}
	pause, pass := e.pause(got, took)
	if e.Events.Waits != nil {
		e.Events.Waits(pause)
	}
	return pass(ctx, pause)
}

// pause says how long to wait, and how.
func (e *Engine) pause(got found, took time.Duration) (time.Duration, func(context.Context, time.Duration) error) {
	switch {
	case e.Settings.Trigger.Kind == Interval:
		for !e.tick.After(time.Now()) {
			e.tick = e.tick.Add(e.Settings.Trigger.Every)
		}
		return time.Until(e.tick), source.Pause
	case got == few:
		return min(fewPause, e.Settings.MaxDelay-time.Since(e.waitingSince)), source.Pause
	default:
		return max(e.Settings.Poll, min(took*lookShare, longestPoll)), e.Source.Await
	}
}

// step plans the next batch, if there is one to plan, and runs it.
func (e *Engine) step(ctx context.Context) (found, error) {
	if e.publishing == nil {
		e.countRequests()
	}
	begun := time.Now()
	planned, err := e.Source.Next(ctx, e.Settings.Limits)
	if err != nil {
		return nothing, err
	}
	for _, n := range planned.Notices {
		e.Events.notice(n)
	}
	if len(planned.Ranges) == 0 || e.tooFew(planned) {
		if err := e.settled(ctx); err != nil {
			return nothing, err
		}
	}
	if len(planned.Ranges) == 0 {
		return nothing, e.tellLag(ctx, true)
	}
	if e.tooFew(planned) {
		return few, nil
	}
	e.waitingSince = time.Time{}
	plan, err := e.plan(ctx, planned)
	if err == nil {
		e.Events.took(Planning, time.Since(begun))
		err = e.tellLag(ctx, false)
	}
	if err != nil {
		return nothing, err
	}
	got := all
	if planned.More {
		got = part
	}
	return got, e.runBatch(ctx, plan, false, planned.More)
}

func (e *Engine) tellLag(ctx context.Context, waiting bool) error {
	if e.Events.Lag == nil {
		return nil
	}
	lag, err := e.Source.Lag(ctx)
	if err != nil {
		return err
	}
	e.Events.Lag(lag, waiting)
	return nil
}

// tooFew says whether to wait for more records, and since when is remembered.
func (e *Engine) tooFew(p source.Planned) bool {
	if e.Settings.Trigger.Kind == AvailableNow || p.More || p.Records >= e.Settings.MinRecords {
		return false
	}
	if e.waitingSince.IsZero() {
		e.waitingSince = time.Now()
	}
	return time.Since(e.waitingSince) < e.Settings.MaxDelay
}

// plan stores the plan of the next batch. What comes back is the plan to run: another process may have been first.
func (e *Engine) plan(ctx context.Context, planned source.Planned) (offsetlog.Plan, error) {
	plan := offsetlog.Plan{
		Batch: e.nextBatch(), Time: e.time(), First: e.first(), Ranges: planned.Ranges, Fingerprint: e.Fingerprint, Start: e.start(),
	}
	if e.table != nil {
		plan.Table = e.table.ID
	}
	if e.committed.Batch >= 0 {
		plan.Committed = &offsetlog.Committed{Batch: e.committed.Batch, Version: e.committed.Version}
	}
	oldest := plan.First
	if newest := e.log.Newest(); newest != nil {
		oldest = newest.First
	}
	if plan.First > oldest {
		if err := e.Source.Keep(ctx, plan.First-1); err != nil {
			return offsetlog.Plan{}, err
		}
	}
	stored, err := e.log.Append(ctx, plan)
	if err != nil {
		return offsetlog.Plan{}, err
	}
	e.Source.Advance(stored.Batch, stored.Ranges)
	if stored.First > oldest {
		if err := e.log.Prune(ctx); err != nil {
			return offsetlog.Plan{}, err
		}
	}
	return stored, nil
}

// first is the oldest batch whose plan is kept: Settings.KeepPlans are, and never fewer than recovery compares with the
// table's newest commit. It moves in steps of a fifth of that, so that most batches prune nothing.
func (e *Engine) first() int64 {
	plans := e.log.Plans()
	if len(plans) == 0 {
		return 0
	}
	first, keep := plans[0].Batch, e.Settings.KeepPlans
	if limit := min(e.nextBatch()-keep, e.committedSince); limit >= first+max(1, keep/5) {
		return limit
	}
	return first
}
