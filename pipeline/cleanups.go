package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/memory"
)

// NeedsCommit tells whether a start of a pipeline needs the commit of its newest batch, of whose commitInfo the userMetadata is given:
// if it has that batch's record.
func NeedsCommit(app, userMetadata string) bool {
	record := batch.ParseRecord(userMetadata)
	return record != nil && record.App == app
}

// cleanups deletes what has expired of a table's log.
type cleanups struct {
	checkpoints *checkpoints // of the same table
	now         func() time.Time
	memory      *memory.Account
	done        int64   // day of the last one that had anything to delete, or failed: until the next nothing more expires
	looked      looking // the last one
}

// looking is what a cleanup can depend on: what has expired, and which log checkpoints there are.
type looking struct {
	day    int64 // since the epoch, in UTC
	behind int   // log checkpoints of this run
}

// Maintain cleans up behind a log checkpoint of this run, once a day. Where there was nothing to delete it tells nothing, and looks again behind
// the next one.
func (c *cleanups) Maintain(ctx context.Context, beside *batch.Beside) *batch.Maintained {
	look := looking{day: c.now().Unix() / (24 * 60 * 60), behind: c.checkpoints.wrote}
	if beside.Behind() || look.behind == 0 || look.day == c.done || look == c.looked {
		return nil
	}
	c.looked = look
	began := time.Now()
	done := &batch.Maintained{Work: "cleanup", Table: c.checkpoints.url}
	if err := c.cleanup(ctx, &paced{ctx: ctx, beside: beside, since: began}, done); err != nil {
		done.Err = fmt.Errorf("clean up the log of table %s: %w", done.Table, err)
	} else if done.Files == 0 {
		return nil
	}
	c.done = look.day
	done.Took = time.Since(began)
	return done
}

func (c *cleanups) cleanup(ctx context.Context, work *paced, done *batch.Maintained) error {
	release, err := reserve(c.memory, c.checkpoints.log.Head().CheckpointMemory(), "reading its log checkpoint", "table cleanup")
	if err != nil {
		return err
	}
	defer release()
	plan, err := c.checkpoints.log.PlanCleanup(ctx, commitlog.CleanupOptions{Needs: NeedsCommit, Now: c.now()})
	if err != nil {
		return err
	}
	work.rest()
	cleaned, err := plan.Run(ctx, func(commitlog.Cleaned) { work.rest() })
	done.Version = plan.From
	for _, n := range cleaned {
		done.Files += n.Files
		done.Bytes += n.Bytes
	}
	return err
}
