package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

// Table is where batches become visible: one atomic commit each, by which the table also knows the newest batch of this
// pipeline that it holds.
type Table interface {
	// Refresh looks at the table and returns what it holds now, or nil when there is no table.
	Refresh(ctx context.Context) (*TableState, error)
	// Begin starts the writing of one batch. There may be no table yet; then the commit creates it.
	Begin(ctx context.Context) (Writer, error)
	// Sweep removes what dead attempts staged here, and tells how many objects that were.
	Sweep(ctx context.Context) (int, error)
	// URL names the table for messages.
	URL() string
}

// TableState is what a table says of itself and of this pipeline.
type TableState struct {
	ID      string // metaData.id
	Schema  *schema.Type
	Version int64
	// Batch is the newest batch of this pipeline in the table, BatchVersion the version of its commit. Batch is -1 when
	// the table has no record of the pipeline. BatchVersion alone is -1 when that commit has been cleaned out of the table's
	// log, with all that it said of the batch.
	Batch        int64
	BatchVersion int64
	// UserMetadata is that of the commit of Batch.
	UserMetadata string
	// History is the newest record of the pipeline in the table's history. It is looked up only when Batch is -1: a table
	// can lose its txn actions and still hold the rows.
	History *Record
	// TargetFileSize is how large the table wants its data files, in bytes.
	TargetFileSize int64
	// Notices are properties of the table that a pipeline's owner should know of.
	Notices []string
}

// Writer takes the rows of one batch. Nothing of them can be seen before Commit has returned. It ends with Commit or
// Abort. Another one of the table may be begun when this one has finished.
type Writer interface {
	Write(ctx context.Context, rows arrow.Record) error
	// Finish completes the files of what was written, so that nothing of it is held any more, and Commit has only the commit left to make.
	Finish(ctx context.Context) error
	// Commit publishes all rows and the record, or nothing. The error is ErrFenced when the table holds this batch, or a
	// newer one of this pipeline, by another process's commit.
	Commit(ctx context.Context, record *Record) (Commit, error)
	// Abort drops what was written. It may be called after a Commit that failed.
	Abort(ctx context.Context) error
}

// Commit is what a Writer's Commit did.
type Commit struct {
	Version int64
	Files   int
	Rows    int64
	Bytes   int64 // of the data files
}

// ErrFenced says that another process of this pipeline has committed the batch, or has gone further: what this process
// knows is out of date.
var ErrFenced = errors.New("another process runs this pipeline")

// Decoding finds out the columns of a pipeline's records and returns what makes decoders of them, as many as are asked for.
// When the columns are not known before the first batch has been seen, it calls sample, which emits the records of the first
// batch.
type Decoding func(ctx context.Context, table *TableState, sample func(emit func(*source.Block) error) error) (func() (format.Decoder, error), error)

// ErrNoRecords is a Decoding's error for columns that are to be inferred from a batch which has no records. Such a batch
// is passed over, and the next one tried.
var ErrNoRecords = errors.New("there are no records to infer columns from")

// RefusedError says why a pipeline is not run: running it could lose rows or double them.
type RefusedError struct {
	Problem string
	Table   string // what the table says
	Plans   string // what the offset log says
	WayOut  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused, since rows could be lost or doubled: %s\n  table:      %s\n  checkpoint: %s\n%s", e.Problem, e.Table, e.Plans, e.WayOut)
}

// Remedy is what to do about it.
func (e *RefusedError) Remedy() string { return e.WayOut }

// BadRecordError is a record that on_error does not let pass.
type BadRecordError struct {
	Fault
	Problem string // "bad record", or how many there were
	WayOut  string
}

func (e *BadRecordError) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", e.Problem, e.Where, e.Reason, e.WayOut)
}

// Remedy is what to do about it.
func (e *BadRecordError) Remedy() string { return e.WayOut }
