package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/memory"
)

// vacuumAgain is for how long a vacuum that has failed is left alone, at most.
const vacuumAgain = time.Hour

// vacuums deletes the files that a table does not need any more.
type vacuums struct {
	lake   *lake
	every  time.Duration
	now    func() time.Time
	memory *memory.Account
	next   time.Time // it is not due before
}

// Maintain runs a vacuum if the last one, by whatever run of the pipeline, was long enough ago, and the run is not behind.
func (v *vacuums) Maintain(ctx context.Context, beside *batch.Beside) *batch.Maintained {
	if beside.Behind() || v.lake.table.Log().Head() == nil || v.now().Before(v.next) {
		return nil
	}
	done := &batch.Maintained{Work: "vacuum", Table: v.lake.url}
	past, err := beside.Past(ctx, done.Work, done.Table)
	if err == nil {
		if v.next = v.after(past); v.now().Before(v.next) {
			return nil
		}
		began := time.Now()
		err = v.vacuum(ctx, &paced{ctx: ctx, beside: beside, since: began}, done)
		done.Took = time.Since(began)
	}
	v.next = v.now().Add(v.every)
	if err != nil {
		done.Err = fmt.Errorf("vacuum table %s: %w", v.lake.url, err)
		v.next = v.now().Add(min(vacuumAgain, v.every))
	}
	return done
}

// after is when it is due, by what has come of it before.
func (v *vacuums) after(past batch.Chore) time.Time {
	switch {
	case past.Failed != nil:
		return past.Failed.Time.Add(min(vacuumAgain, v.every))
	case past.Done != nil:
		return past.Done.Time.Add(v.every)
	}
	return time.Time{}
}

func (v *vacuums) vacuum(ctx context.Context, work *paced, done *batch.Maintained) error {
	release, err := reserve(v.memory, v.lake.table.Log().Head().CheckpointMemory(), "reading its log", "vacuum")
	if err != nil {
		return err
	}
	defer release()
	plan, err := vacuum.NewPlan(ctx, v.lake.store, vacuum.Options{Now: v.now()})
	if err != nil {
		return err
	}
	work.rest()
	found, err := plan.Run(ctx, func(*vacuum.Found) { work.rest() })
	if err != nil {
		return err
	}
	done.Version = plan.Version
	done.Files, done.Bytes = found.Removed.Files+found.Orphans.Files, found.Removed.Bytes+found.Orphans.Bytes
	return nil
}
