package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// Records calls fn for the record of every batch of a pipeline that the table's log holds, in order.
type Records func(ctx context.Context, fn func(*Record) error) error

// Adopt makes the checkpoint of a pipeline anew from what the table says, for a start that was refused because the two
// do not belong together. A table whose txn action for the pipeline is gone still has the records in its history. The
// old plans are kept aside in the checkpoint. It returns the batch that was adopted. The source is restored to the table's
// position and made to remember it; it is not to be used further.
//
// A death anywhere in between leaves a checkpoint that is refused as before, and Adopt can be called again.
func Adopt(ctx context.Context, name string, checkpoint storage.Store, src source.Source, table *TableState, records Records) (*Record, error) {
	first, err := firstOf(ctx, records)
	if err != nil {
		return nil, fmt.Errorf("adopt the table: %w", err)
	}
	var last *Record
	history := source.History{Adopted: true, Since: first, Batches: func(fn func(int64, []offsetlog.Range) error) error {
		return records(ctx, func(r *Record) error {
			last = r
			return fn(r.Batch, r.Ranges)
		})
	}}
	if err := src.Restore(ctx, history); err != nil {
		return nil, fmt.Errorf("adopt the table: set the source to its position: %w", err)
	}
	if last == nil {
		return nil, fmt.Errorf("adopt the table: its log has no record of pipeline %q; without one there is nothing to go on from: load the table anew under another name", name)
	}
	if err := src.Keep(ctx, last.Batch); err != nil {
		return nil, fmt.Errorf("adopt the table: %w", err)
	}
	adopted := &offsetlog.Adopted{Checkpoint: last.Checkpoint}
	if table != nil && table.Batch < 0 {
		adopted.Unrecorded = table.ID
	}
	return last, offsetlog.Adopt(ctx, checkpoint, offsetlog.Plan{
		Pipeline: name, Batch: last.Batch, First: last.Batch, Time: last.Time, Ranges: last.Ranges, Fingerprint: last.Fingerprint,
		Adopted: adopted,
	})
}

// errEnough ends the reading of records behind the first.
var errEnough = errors.New("enough records")

// firstOf is the first batch that the records tell of, 0 when there are none.
func firstOf(ctx context.Context, records Records) (batch int64, err error) {
	err = records(ctx, func(r *Record) error {
		batch = r.Since
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return batch, err
}
