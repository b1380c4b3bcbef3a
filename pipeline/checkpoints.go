package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/memory"
)

// checkpointAgain is how many commits a log checkpoint that could not be written is left alone for.
const checkpointAgain = 20

// checkpoints writes the log checkpoints of a table.
type checkpoints struct {
	log    *commitlog.Log
	url    string
	memory *memory.Account
	after  int64 // version before which nothing is tried, since it has failed
	wrote  int   // how many
}

// Maintain writes a log checkpoint if one is due, and there is memory for it.
func (c *checkpoints) Maintain(ctx context.Context, _ *batch.Beside) *batch.Maintained {
	head := c.log.Head()
	if head == nil || head.Version < c.after {
		return nil
	}
	began := time.Now()
	due, err := c.log.CheckpointDue(ctx)
	if err == nil && !due {
		return nil
	}
	written := commitlog.Checkpoint{Version: head.Version}
	if err == nil {
		written, err = c.write(ctx, head)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("log checkpoint of table %s: %w", c.url, err)
		c.after = head.Version + checkpointAgain
	case written.There:
		return nil // another process was first
	default:
		c.wrote++
	}
	return &batch.Maintained{
		Work: "checkpoint", Table: c.url, Version: written.Version, Files: written.Files, Bytes: written.Bytes, Took: time.Since(began), Err: err,
	}
}

func (c *checkpoints) write(ctx context.Context, head *commitlog.Head) (commitlog.Checkpoint, error) {
	release, err := reserve(c.memory, head.CheckpointMemory(), "writing it", "table checkpoint")
	if err != nil {
		return commitlog.Checkpoint{Version: head.Version}, err
	}
	defer release()
	return c.log.Checkpoint(ctx)
}
