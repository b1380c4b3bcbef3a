package table

import (
	"context"

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
