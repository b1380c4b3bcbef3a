package table

import (
	"context"
	"errors"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// Missing tells whether a file is not there.
func (s *Snapshot) Missing(ctx context.Context, f *File) (bool, error) {
	at, err := s.place(f.Path)
	if err != nil {
		return false, err
	}
	_, err = at.reader.Stat(ctx, at.key)
	if errors.Is(err, storage.ErrNotExist) {
		return true, nil
	}
	return false, at.failed(err)
}

// Remove commits that files of the snapshot are no part of the table any more, and their rows with them. It returns the new
// version. Errors are those of commitlog.Log.Commit: a *commitlog.ConflictError if files were added or removed since.
func (s *Snapshot) Remove(ctx context.Context, files []File, now time.Time, operation string, metrics map[string]string) (int64, error) {
	tx := commitlog.Transaction{ReadVersion: s.Version(), Actions: commitlog.Commit{Info: &commitlog.CommitInfo{
		Operation: operation, OperationParameters: map[string]any{}, OperationMetrics: metrics, EngineInfo: s.table.engine(),
	}}}
	for _, f := range files {
		r := removal(f.add, now.UnixMilli())
		r.DataChange = true
		tx.Actions.Removes = append(tx.Actions.Removes, r)
	}
	if _, err := s.table.log.Refresh(ctx); err != nil {
		return 0, err
	}
	result, err := s.table.log.Commit(ctx, tx)
	return result.Version, err
}
