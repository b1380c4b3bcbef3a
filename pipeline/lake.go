package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// lake shows a Delta table to the engine as the batch.Table that it knows.
type lake struct {
	pipeline string
	store    storage.Store
	table    *table.Table
	url      string
	create   func() *table.Create
	appended atomic.Int64 // files, by this process
}

func (l *lake) URL() string { return l.url }

// scratch is a folder for what does not fit into memory: the table's own, or that of the system's temporary files for a table in a bucket.
func (l *lake) scratch() string {
	if isRemote(l.url) {
		return ""
	}
	return l.url
}

func (l *lake) Refresh(ctx context.Context) (*batch.TableState, error) {
	state, err := l.table.Refresh(ctx)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", l.url, err)
	}
	if state == nil {
		return nil, nil
	}
	seen := &batch.TableState{ID: state.ID, Version: state.Version, Schema: state.Schema, Batch: -1, BatchVersion: -1}
	if seen.TargetFileSize, err = state.TargetFileSize(); err != nil {
		return nil, fmt.Errorf("open table %s: %w", l.url, err)
	}
	if app := state.App; app != nil {
		seen.Batch, seen.BatchVersion, seen.UserMetadata = app.Batch, app.Version, app.UserMetadata
	} else if err := l.records(ctx, func(r *batch.Record) error { seen.History = r; return nil }); err != nil {
		return nil, fmt.Errorf("read the history of table %s: %w", l.url, err)
	}
	if keep, set := state.Properties["delta.setTransactionRetentionDuration"]; set {
		seen.Notices = append(seen.Notices, fmt.Sprintf("table %s: delta.setTransactionRetentionDuration is %q: a pipeline that is idle for longer loses its record in the table and will be refused", l.url, keep))
	}
	return seen, nil
}

// records shows the records of the pipeline's batches in the table's history, in order; also those whose txn action is
// gone.
func (l *lake) records(ctx context.Context, fn func(*batch.Record) error) error {
	compacted := false
	return l.table.History(ctx, func(c *commitlog.Commit) error {
		compacted = compacted || c.Rearranges()
		if c.Info == nil {
			return nil
		}
		record := batch.ParseRecord(c.Info.UserMetadata)
		if record == nil || record.App != l.pipeline {
			return nil
		}
		record.Files, record.Compacted, compacted = len(c.Adds), compacted, false
		for i := range c.Adds {
			record.FileBytes += c.Adds[i].Size
		}
		return fn(record)
	})
}

func (l *lake) Sweep(ctx context.Context) (int, error) {
	n, err := l.table.Sweep(ctx)
	if err != nil {
		return n, fmt.Errorf("clear up in table %s: %w", l.url, err)
	}
	return n, nil
}

func (l *lake) Begin(ctx context.Context) (batch.Writer, error) {
	a, err := l.table.Begin(ctx, l.create())
	if err != nil {
		return nil, fmt.Errorf("append to table %s: %w", l.url, err)
	}
	return &appender{l, a}, nil
}

type appender struct {
	lake   *lake
	append *table.Append
}

func (a *appender) Write(ctx context.Context, rows arrow.Record) error {
	if err := a.append.Write(ctx, rows); err != nil {
		return fmt.Errorf("append to table %s: %w", a.lake.url, err)
	}
	return nil
}

func (a *appender) Finish(ctx context.Context) error {
	if err := a.append.Finish(ctx); err != nil {
		return fmt.Errorf("append to table %s: %w", a.lake.url, err)
	}
	return nil
}

// Commit publishes. When the outcome is unknown it asks again, a few times: the log tells whether the commit is in it.
func (a *appender) Commit(ctx context.Context, record *batch.Record) (batch.Commit, error) {
	metadata, err := record.Metadata()
	if err != nil {
		return batch.Commit{}, err
	}
	b := table.Batch{ID: record.Batch, Covers: record.Batch - record.Since, UserMetadata: metadata, Time: record.Time}
	done, err := a.append.Commit(ctx, b)
	var unknown *commitlog.UnknownError
	for tries := 0; errors.As(err, &unknown) && tries < 3; tries++ {
		done, err = a.append.Commit(ctx, b)
	}
	var fenced *commitlog.FencedError
	switch {
	case errors.As(err, &fenced):
		return batch.Commit{}, fmt.Errorf("%w: table %s: %w", batch.ErrFenced, a.lake.url, err)
	case err != nil:
		return batch.Commit{}, fmt.Errorf("commit to table %s: %w", a.lake.url, err)
	}
	a.lake.appended.Add(int64(done.Files))
	return batch.Commit{Version: done.Version, Files: done.Files, Rows: done.Rows, Bytes: done.Bytes}, nil
}

func (a *appender) Abort(ctx context.Context) error { return a.append.Abort(ctx) }

// view is what an audit sees of a commit.
func view(pipeline string, c *commitlog.Commit) batch.CommitView {
	v := batch.CommitView{Version: c.Version}
	if c.Info != nil {
		v.UserMetadata = c.Info.UserMetadata
	}
	if txn, has := c.Txn(pipeline); has {
		v.Batch, v.HasBatch = txn.Version, true
	}
	for i := range c.Adds {
		if add := &c.Adds[i]; add.DataChange {
			v.Added = append(v.Added, batch.AddedFile{Path: add.Path, Rows: commitlog.RowsOf(add.Stats, nil)})
		}
	}
	for i := range c.Removes {
		v.Removed = append(v.Removed, c.Removes[i].Path)
	}
	return v
}
