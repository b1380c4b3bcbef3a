package pipeline_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

const year = 365 * 24 * time.Hour

// clock is wrong by so much.
func clock(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Round(0).Add(by) }
}

// TestClockThatJumpsChangesNothingButTimestamps jumps after the first plan and at each one after it, under every trigger.
func TestClockThatJumpsChangesNothingButTimestamps(t *testing.T) {
	in := landing(t, 6, 9)
	triggers := map[string]pipeline.Trigger{
		"available now": {Mode: pipeline.AvailableNow},
		"continuous":    {Mode: pipeline.Continuous},
		"interval":      {Mode: pipeline.Every, Every: time.Millisecond},
	}
	jumps := map[string][]time.Duration{
		"back":    {5 * year, 0},
		"forward": {-40 * year, 0},
		"about":   {0, -3 * time.Hour, 5 * year, -40 * year, time.Hour, 3 * time.Hour, -year},
	}
	for name, trigger := range triggers {
		for direction, by := range jumps {
			t.Run(name+" "+direction, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, in, quarantined+"batch: {max_files: 1, min_records: 1000, max_delay: 5ms}\n")
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				var plans atomic.Int64 // maintenance looks at the clock as well
				events := batch.Events{
					Planned: func(offsetlog.Plan, bool) { plans.Add(1) },
					Committed: func(d batch.Done) {
						if d.Record.Batch == 5 && trigger.Mode != pipeline.AvailableNow {
							stop()
						}
					},
					Took: func(phase batch.Phase, took time.Duration) {
						if took < 0 || took > time.Hour {
							t.Errorf("%s took %v", phase, took)
						}
					},
				}
				now := func() time.Time { return clock(by[min(int(plans.Load()), len(by)-1)])() }
				if err := w.run(ctx, pipeline.BuildOptions{Now: now, Trigger: &trigger, Events: events}); err != nil {
					t.Fatal(err)
				}
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					t.Fatalf("%d batches in a minute", plans.Load())
				}
				w.check(t)
				neverBack(t, w.file.Table.Path)
				neverBack(t, w.file.QuarantinePath())
			})
		}
	}
}

// TestTimestampsDoNotGoBackBehindAWriterWhoseClockIsAhead lets two pipelines take turns on one table.
func TestTimestampsDoNotGoBackBehindAWriterWhoseClockIsAhead(t *testing.T) {
	w := newWorld(t, landing(t, 4, 9), "on_error: skip\nbatch: {max_files: 1}\n")
	ahead := &world{in: w.in, dir: w.dir, file: w.parse(t, "ahead", "on_error: skip\nbatch: {max_files: 1}\n")}
	for range 4 {
		for by, w := range map[time.Duration]*world{0: w, year: ahead} {
			if err := w.run(t.Context(), pipeline.BuildOptions{Now: clock(by), MaxBatches: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	neverBack(t, w.file.Table.Path)
	compare(t, "rows", w.column(t, w.file.Table.Path, "id"), append(texts(w.in.good), texts(w.in.good)...))
	w.audit(t)
	ahead.audit(t)
}

// neverBack checks all times in a table's log, version by version.
func neverBack(t *testing.T, path string) {
	t.Helper()
	var last int64
	after := func(c *commitlog.Commit, what string, at int64) {
		if at < last {
			t.Errorf("%s: version %d: %s %v is before %v", path, c.Version, what, time.UnixMilli(at), time.UnixMilli(last))
		}
		last = at
	}
	err := table.New(local.New(path), table.Options{}).History(t.Context(), func(c *commitlog.Commit) error {
		after(c, "timestamp", c.Info.Timestamp)
		for i := range c.Adds {
			after(c, "modification time", c.Adds[i].ModificationTime)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
