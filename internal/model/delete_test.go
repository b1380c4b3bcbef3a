package model

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// remove deletes rows as another engine does: a third of them by deletion vectors if the table has them, else all of its oldest
// file's or, at times, all of the table's.
func (s *step) remove() error {
	ctx := s.tb.Context()
	of, err := s.table.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	s.between()
	files, err := of.FilesWhere(ctx, nil)
	if err != nil || len(files) == 0 {
		return err
	}
	adds := map[string]commitlog.Add{}
	for _, a := range seqtest.All(s.tb, of.State().Files.All(s.tb.Context())) {
		adds[a.Path] = a
	}
	vectors := of.Properties()["delta.enableDeletionVectors"] == "true"
	if !vectors && s.random.IntN(4) > 0 {
		files = files[:1]
	}
	gone := map[int64]bool{}
	actions := commitlog.Commit{}
	for i := range files {
		add := adds[files[i].Path]
		deleted, left, err := s.choose(of, &files[i], &add, vectors, gone)
		if err != nil {
			return err
		}
		if deleted == nil {
			continue
		}
		actions.Removes = append(actions.Removes, commitlog.Remove{
			Path: add.Path, DeletionTimestamp: s.clock.UnixMilli(), DataChange: true, ExtendedFileMetadata: true,
			PartitionValues: add.PartitionValues, Size: &add.Size, DeletionVector: add.DeletionVector,
		})
		if left {
			add.DataChange, add.Stats = true, strings.Replace(add.Stats, `"tightBounds":true`, `"tightBounds":false`, 1)
			if add.DeletionVector, err = s.putVector(deleted); err != nil {
				return err
			}
			s.vectors[add.DeletionVector.ID()] = deleted
			actions.Adds = append(actions.Adds, add)
		}
	}
	if len(actions.Removes) == 0 {
		return nil
	}
	s.ask("delete", func(before rows) rows { return before.without(gone) })
	actions.Info = &commitlog.CommitInfo{Operation: "DELETE", UserMetadata: s.label}
	done, err := s.table.Log().Commit(ctx, commitlog.Transaction{ReadVersion: of.Version(), Actions: actions})
	s.version = done.Version
	return err
}

// choose adds the ids of those rows of a file to gone that are deleted, and returns which of all of its rows are then; nil when
// that is none besides those that were. left says whether any row is.
func (s *step) choose(of *table.Snapshot, f *table.File, add *commitlog.Add, some bool, gone map[int64]bool) (deleted []bool, left bool, err error) {
	if add.DeletionVector != nil {
		deleted = slices.Clone(s.vectors[add.DeletionVector.ID()])
	}
	any := false
	at := 0
	err = of.ScanFile(s.tb.Context(), f, func(record arrow.Record) error {
		rowsOf(record, func(id int64, _ string) {
			for at < len(deleted) && deleted[at] {
				at++
			}
			if at == len(deleted) {
				deleted = append(deleted, false)
			}
			if !some || s.random.IntN(3) == 0 {
				deleted[at], gone[id], any = true, true, true
			}
			at++
		})
		return nil
	})
	if !any {
		return nil, true, err
	}
	return deleted, slices.Contains(deleted, false), err
}

// putVector writes a deletion vector into the log, or into a file of its own.
func (s *step) putVector(deleted []bool) (*commitlog.DeletionVector, error) {
	if s.random.IntN(2) == 0 {
		return tabletest.InlineVector(deleted), nil
	}
	return tabletest.PutVector(s.tb.Context(), s.store, deleted)
}
