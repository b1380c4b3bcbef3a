package table

import (
	"context"
	"errors"
	"time"

	"github.com/sluicedata/sluice/commitlog"
)

// Sweep removes the files that dead attempts left behind, and returns their number. A published one stays if the table
// refers to it or did so once, since older versions need it until a vacuum; or if it is of the log: a log checkpoint is right
// whoever wrote it. The list of the table's files is read only if there is such a one to ask about.
func (t *Table) Sweep(ctx context.Context) (int, error) {
	var known map[string]struct{}
	return t.store.Sweep(ctx, func(key string) (bool, error) {
		if commitlog.InLog(key) {
			return true, nil
		}
		if known == nil {
			var err error
			if known, err = t.knownKeys(ctx); err != nil {
				return false, err
			}
		}
		_, ok := known[key]
		return ok, nil
	})
}

// knownKeys are the store's keys of the files of the newest version, and of those whose removal the log still tells of.
func (t *Table) knownKeys(ctx context.Context) (map[string]struct{}, error) {
	known := make(map[string]struct{})
	state, err := t.log.FilesAndRemoved(ctx, Newest, time.Time{})
	if errors.Is(err, commitlog.ErrNoTable) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	add := func(path string) error {
		key, err := commitlog.PathDecode(path)
		known[key] = struct{}{}
		return err
	}
	for file := range state.Files.Keys() {
		if err := add(file.Path); err != nil {
			return nil, err
		}
	}
	for r := range state.Removed() {
		if err := add(r.Path); err != nil {
			return nil, err
		}
	}
	return known, nil
}
