package table

import (
	"context"
	"errors"

	"github.com/sluicedata/sluice/commitlog"
)

// Sweep removes the files that dead attempts left behind, and returns their number. A published one stays if the table
// refers to it, or if it is of the log: a log checkpoint is right whoever wrote it. The list of the table's files is read only if
// there is such a one to ask about.
func (t *Table) Sweep(ctx context.Context) (int, error) {
	var live map[string]struct{}
	return t.store.Sweep(ctx, func(key string) (bool, error) {
		if commitlog.InLog(key) {
			return true, nil
		}
		if live == nil {
			var err error
			if live, err = t.liveKeys(ctx); err != nil {
				return false, err
			}
		}
		_, ok := live[key]
		return ok, nil
	})
}

// liveKeys are the store's keys of the files of the newest version.
func (t *Table) liveKeys(ctx context.Context) (map[string]struct{}, error) {
	live := make(map[string]struct{})
	state, err := t.log.Files(ctx, Newest)
	if errors.Is(err, commitlog.ErrNoTable) {
		return live, nil
	}
	if err != nil {
		return nil, err
	}
	for file := range state.Files.Keys() {
		key, err := commitlog.PathDecode(file.Path)
		if err != nil {
			return nil, err
		}
		live[key] = struct{}{}
	}
	return live, nil
}
