package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// Append is one batch on its way into the table: Begin, Write for each record, then Commit or Abort. Not safe for
// concurrent use.
type Append struct {
	pending
	head   *commitlog.Head  // nil when there is no table
	made   commitlog.Commit // the actions that make it then
	schema *schema.Type     // of the rows, as the table has it
	known  *arrow.Schema    // of the last record that was found to fit
}

// Begin starts an append to the table as last known (it looks for the table only when none is known). Create is the
// table to make when there is none. When there is one, Create's schema, if it has one, is what will be written, and is
// checked against the table's: a *SchemaError names every column that does not fit. Partition columns, if it names any,
// have to be the table's; its properties are of no account then.
func (t *Table) Begin(ctx context.Context, create *Create) (*Append, error) {
	var err error
	head := t.log.Head()
	if head == nil {
		if head, err = t.log.Refresh(ctx); err != nil && !errors.Is(err, commitlog.ErrNoTable) {
			return nil, err
		}
	}
	a := &Append{pending: pending{table: t}, head: head}
	var s form
	switch {
	case head != nil:
		if err := create.checkAgainst(head); err != nil {
			return nil, err
		}
		clustering, err := head.ClusteringColumns()
		if err != nil {
			return nil, err
		}
		s = form{head.Schema(), head.Metadata.PartitionColumns, commitlog.DottedPaths(clustering), head.Metadata.Configuration}
	case create == nil:
		return nil, fmt.Errorf("append to %s: %w; give its columns so that it can be made", t.store.URL(), commitlog.ErrNoTable)
	default:
		if err := create.Check(); err != nil {
			return nil, err
		}
		if create, err = create.mapped(); err != nil {
			return nil, err
		}
		s = form{create.Schema, create.PartitionColumns, create.ClusterBy, create.Properties}
		if a.made, err = create.actions(t.options.Now()); err != nil {
			return nil, err
		}
	}
	a.schema = s.schema
	if a.writer, err = newWriter(t, s); err != nil {
		return nil, fmt.Errorf("append to %s: %w", t.store.URL(), err)
	}
	return a, nil
}

// Schema is that of the table, as the append began with it.
func (a *Append) Schema() *schema.Type { return a.schema }

// Write appends a record's rows. Its columns are matched by name; those of the table that it lacks are null. It may be
// released after. An error (a *SchemaError, a *NotNullError, the storage's) leaves nothing to be done but Abort.
func (a *Append) Write(ctx context.Context, record arrow.Record) error {
	if err := a.usable(); err != nil {
		return err
	}
	if a.whole {
		return errors.New("its files are complete; begin a new one")
	}
	err := a.check(record.Schema())
	if err == nil {
		err = a.writer.write(ctx, record)
	}
	a.failed = err
	return err
}

func (a *Append) check(s *arrow.Schema) error {
	if a.known == s {
		return nil
	}
	written, err := schema.FromArrowSchema(s)
	if err != nil {
		return &SchemaError{Faults: []error{err}}
	}
	if err := checkFits(written, a.schema, false); err != nil {
		return err
	}
	for i, f := range written.Fields {
		if slices.ContainsFunc(written.Fields[:i], func(g schema.Field) bool { return g.Name == f.Name }) {
			return &SchemaError{Faults: []error{fmt.Errorf("column %s: the record has it twice; leave one out", f.Name)}}
		}
	}
	a.known = s
	return nil
}

// Rows is the number of rows written so far.
func (a *Append) Rows() int64 { return a.writer.rows }

// Finish completes the files and gives them their names, which Commit does otherwise. What was written is not held any more then, and nothing
// more can be. An error leaves nothing to be done but Abort.
func (a *Append) Finish(ctx context.Context) error {
	if err := a.usable(); err != nil {
		return err
	}
	return a.finish(ctx)
}
