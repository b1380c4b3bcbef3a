package table

import (
	"context"
	"time"

	"github.com/sluicedata/sluice/commitlog"
)

// History calls fn for each commit that the log still has, oldest first. An error of fn ends it and is returned as it is.
func (t *Table) History(ctx context.Context, fn func(*commitlog.Commit) error) error {
	head, err := t.log.Refresh(ctx)
	if err != nil {
		return err
	}
	return t.log.Commits(ctx, 0, head.Version, fn)
}

// SnapshotAt reads the newest version that was committed at a time or before it; see commitlog.Times.
func (t *Table) SnapshotAt(ctx context.Context, at time.Time) (*Snapshot, error) {
	times, err := t.log.Times(ctx)
	if err != nil {
		return nil, err
	}
	version, err := times.Version(ctx, at)
	if err != nil {
		return nil, err
	}
	return t.Snapshot(ctx, version)
}
