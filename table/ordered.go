package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/uuid"
)

// Tags of files whose rows are in an order, which Delta's OPTIMIZE writes and reads (AddFile.Tags). They are advice.
const (
	tagCube  = "ZCUBE_ID"
	tagBy    = "ZCUBE_ZORDER_BY"
	tagCurve = "ZCUBE_ZORDER_CURVE"
)

// Ordered says that files were written together, with their rows in the order of a space-filling curve.
type Ordered struct {
	Cube  string   // names the files that were written together; a UUID
	By    []string // the columns that the curve goes through, dotted
	Curve string   // hilbert
}

func (o *Ordered) by() []string {
	if o == nil {
		return []string{}
	}
	return o.By
}

func (o *Ordered) tags() map[string]string {
	if o == nil {
		return nil
	}
	return map[string]string{tagCube: o.Cube, tagBy: jsonText(o.By), tagCurve: o.Curve}
}

// Cube names the files that the file was ordered with by such columns and such a curve; empty: it was not.
func (f *File) Cube(by []string, curve string) string {
	tags := f.add.Tags
	if tags[tagBy] != jsonText(by) || tags[tagCurve] != curve {
		return ""
	}
	return tags[tagCube]
}

// Order has the commit say that the rows, which Write is to be given in that order, are in the order of a curve through
// columns.
func (r *Rewrite) Order(by []string, curve string) {
	r.ordered = &Ordered{Cube: uuid.NewString(), By: slices.Clone(by), Curve: curve}
}

// ArrowSchema is that of the records that Write takes and Scan hands out: the table's columns without those that it is
// partitioned by.
func (r *Rewrite) ArrowSchema() *arrow.Schema { return r.stored.ArrowSchema() }

// Scan hands the rows of a file of the partition to fn, without the deleted ones, with some columns, or all if none is named. Texts that the file has in a
// dictionary are in one in the records, whose arrays begin with their buffers. It is safe for concurrent use, of Replace and Write as well.
func (r *Rewrite) Scan(ctx context.Context, f *File, columns []string, fn func(arrow.Record) error) error {
	if err := r.checkPartition(f); err != nil {
		return fmt.Errorf("rewrite %s: %w", f.Path, err)
	}
	wanted, err := project(r.stored, columns)
	if err == nil {
		var rows *fileReader
		if rows, err = r.snapshot.reader(ctx, f, wanted, fn); err == nil {
			rows.dictionaries = true
			err = rows.read(ctx)
		}
	}
	return err
}

// Write writes rows of files that Replace is told of. An error leaves nothing to be done but Abort.
func (r *Rewrite) Write(ctx context.Context, record arrow.Record) error {
	if err := r.usable(); err != nil {
		return err
	}
	r.failed = r.writer.writeTo(ctx, r.partition, record)
	return r.failed
}
