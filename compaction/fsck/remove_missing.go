package fsck

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// removeTries is how often a removal is made again because others have committed meanwhile.
const removeTries = 20

// Removed is what a repair has taken out of the table.
type Removed struct {
	Version int64 // of its commit; -1 when there was nothing to remove
	Files   int
	Rows    int64 // that were in them by their statistics, without those deleted before
	Unknown int   // files whose statistics do not tell
}

// RemoveMissing commits the removal of those files of the newest version that a check has found to be missing, and that are
// still not there. Their rows are lost: readers of the change feed see them as deleted. It is one commit; with nothing to
// remove it is none. A file of which only the deletion vector is missing stays. Errors are those of commitlog.Log.Commit; a
// table that is append-only is refused.
func RemoveMissing(ctx context.Context, store storage.Store, r *Report, o table.Options, now time.Time) (Removed, error) {
	suspects := map[string]bool{}
	for _, f := range r.Faults {
		if f.Missing {
			suspects[f.Path] = true
		}
	}
	none := Removed{Version: -1}
	if len(suspects) == 0 {
		return none, nil
	}
	t := table.New(store, o)
	var conflict *commitlog.ConflictError
	for range removeTries {
		removed, err := removeOnce(ctx, t, suspects, now)
		if !errors.As(err, &conflict) {
			return removed, err
		}
	}
	return none, conflict
}

func removeOnce(ctx context.Context, t *table.Table, suspects map[string]bool, now time.Time) (Removed, error) {
	removed := Removed{Version: -1}
	s, err := t.Snapshot(ctx, table.Newest)
	if err != nil {
		return removed, err
	}
	var gone []table.File
	for f, err := range s.Files(ctx) {
		if err != nil {
			return removed, err
		}
		if !suspects[f.Path] {
			continue
		}
		missing, err := s.Missing(ctx, &f)
		if err != nil {
			return removed, err
		}
		if missing {
			gone = append(gone, f)
		}
	}
	if len(gone) == 0 {
		return removed, nil
	}
	for _, f := range gone {
		removed.Files++
		if f.Rows < 0 {
			removed.Unknown++
		} else {
			removed.Rows += f.Rows
		}
	}
	removed.Version, err = s.Remove(ctx, gone, now, "FSCK", map[string]string{
		"numRemovedFiles": strconv.Itoa(removed.Files), "numDeletedRows": strconv.FormatInt(removed.Rows, 10),
	})
	if err != nil {
		return Removed{Version: -1}, fmt.Errorf("remove %d missing files from the table: %w", len(gone), err)
	}
	return removed, nil
}
