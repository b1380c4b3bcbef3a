package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// Rewrite is the rewriting of data files of one partition into fewer, on its way into the table: then Commit or Abort. The
// table's rows stay as they are. Not safe for concurrent use.
type Rewrite struct {
	pending
	snapshot  *Snapshot
	partition *partitionRows
	stored    *schema.Type // the schema without partition columns
	removes   []commitlog.Remove
	rows      int64 // of the files that are replaced
	sources   sourceOpener
	ordered   *ordered // nil: rows are in the order in which they came
}

// Rewrite begins to rewrite files of the snapshot that are in one partition into files of the size that the table's
// properties ask for. Rows are written in the order in which Add is called, and in that of each file.
func (s *Snapshot) Rewrite(of *File) (*Rewrite, error) {
	var w *writer
	form, err := s.form()
	if err == nil {
		w, err = newWriter(s.table, form)
	}
	if err != nil {
		return nil, fmt.Errorf("rewrite files of %s: %w", s.table.store.URL(), err)
	}
	values := make([]*string, len(s.partitions))
	for i, c := range s.partitions {
		values[i] = of.Values[c]
	}
	r := &Rewrite{pending: pending{table: s.table, writer: w}, snapshot: s, stored: storedColumns(s.schema, s.partitions)}
	r.partition = w.partition(values, true)
	w.order = append(w.order, r.partition)
	return r, nil
}

// Add reads a file's rows and writes them. Columns that are made as those of the table's files are made now are taken over page by page, without
// decoding what is in them; the values of others are read. An error leaves nothing to be done but Abort.
func (r *Rewrite) Add(ctx context.Context, f *File) error {
	if err := r.usable(); err != nil {
		return err
	}
	err := r.add(ctx, f)
	if err != nil {
		err = fmt.Errorf("rewrite %s: %w", f.Path, err)
	}
	r.failed = err
	return err
}

func (r *Rewrite) add(ctx context.Context, f *File) error {
	if err := r.checkPartition(f); err != nil {
		return err
	}
	before := r.writer.rows
	if err := r.copy(ctx, f); err != nil {
		return err
	}
	return r.Replace(f, r.writer.rows-before)
}

// Replace says that a file, which has so many rows, is no longer needed: they have been written by Write, or will be.
func (r *Rewrite) Replace(f *File, rows int64) error {
	if f.Rows >= 0 && rows != f.Rows {
		return &commitlog.CorruptError{
			Table: r.table.store.URL(), Version: r.snapshot.Version(),
			Reason: fmt.Sprintf("the log says that %s has %d rows, and %d are in it; the files of its group stay as they are; restore it from a copy", f.Path, f.Rows, rows),
		}
	}
	r.rows += rows
	r.removes = append(r.removes, removal(f.add, r.table.options.Now().UnixMilli()))
	return nil
}

func (r *Rewrite) checkPartition(f *File) error {
	if !maps.EqualFunc(f.add.PartitionValues, r.partition.values, equalTexts) {
		return errors.New("it is in another partition than the files before it; begin another rewrite for it")
	}
	return nil
}

func equalTexts(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// copy writes a file's rows that have not been deleted: those columns page by page that can be, others by their values.
func (r *Rewrite) copy(ctx context.Context, f *File) (err error) {
	rows, err := r.snapshot.reader(ctx, f, r.stored, func(rows arrow.Record) error {
		return r.writer.writeTo(ctx, r.partition, rows)
	})
	if err != nil {
		return err
	}
	object, err := rows.file.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	source, err := r.sources.open(r.writer.layout, rows.file, object)
	if err != nil {
		return err
	}
	if !source.joins {
		file, err := source.open()
		if err != nil {
			return err
		}
		rows.dictionaries = true
		return rows.readFile(ctx, file)
	}
	deleted, err := rows.deletedRows(source.rows())
	if err != nil {
		return err
	}
	return r.writer.join(ctx, r.partition, source, deleted)
}

// writeTo writes a record's rows into a partition's file.
func (w *writer) writeTo(ctx context.Context, p *partitionRows, record arrow.Record) error {
	columns, err := bind(w.layout.columns, record)
	if err != nil || record.NumRows() == 0 {
		return err
	}
	from := block{record, columns, recordBytes(record) / record.NumRows()}
	if err := w.writeRows(ctx, p, from, allRows(int(record.NumRows()))); err != nil {
		return err
	}
	w.rows += record.NumRows()
	return nil
}

// join writes a file's pages, but for the rows that have been deleted, into a partition's file.
func (w *writer) join(ctx context.Context, p *partitionRows, s *sourceFile, deleted deletionVector) error {
	left := s.rows() - deleted.count(0, s.rows())
	if left == 0 {
		return nil
	}
	w.rows += left
	return w.fill(ctx, p, func(e *encoder) error { return e.join(ctx, s, deleted) })
}

// removal is the remove action of a file whose rows stay in the table, in another one.
func removal(add *commitlog.Add, nowMillis int64) commitlog.Remove {
	return commitlog.Remove{
		Path:                    add.Path,
		DeletionTimestamp:       nowMillis,
		ExtendedFileMetadata:    true,
		PartitionValues:         add.PartitionValues,
		Size:                    &add.Size,
		Tags:                    add.Tags,
		DeletionVector:          add.DeletionVector,
		BaseRowID:               add.BaseRowID,
		DefaultRowCommitVersion: add.DefaultRowCommitVersion,
	}
}

// Commit publishes the new files and puts the commit that replaces the old ones by them. Whatever others have committed
// since the snapshot, it comes after that, unless they have removed or replaced one of the old files, or changed protocol or
// metadata: then it fails with a *commitlog.ConflictError, and what was written has been removed, as with any other error but
// *commitlog.UnknownError. After that Commit may be called again.
func (r *Rewrite) Commit(ctx context.Context) (Committed, error) {
	if err := r.usable(); err == nil && r.rows != r.writer.rows {
		err = fmt.Errorf("rewrite files of %s: %d rows were written of files that have %d", r.table.store.URL(), r.writer.rows, r.rows)
		return Committed{}, errors.Join(err, r.Abort(ctx))
	}
	return r.commit(ctx, r.transaction)
}

func (r *Rewrite) transaction() commitlog.Transaction {
	tx := commitlog.Transaction{ReadVersion: r.snapshot.Version()}
	tx.Actions.Removes = r.removes
	tx.Actions.Adds = r.writer.adds()
	for i := range tx.Actions.Adds {
		tx.Actions.Adds[i].DataChange = false
		tx.Actions.Adds[i].Tags = r.ordered.tags()
		tx.Actions.Adds[i].ClusteringProvider = r.ordered.provider()
	}
	tx.Actions.Info = &commitlog.CommitInfo{
		Operation:           "OPTIMIZE",
		OperationParameters: r.ordered.parameters(),
		OperationMetrics:    r.metrics(),
		EngineInfo:          r.table.engine(),
		TxnID:               r.txnID,
	}
	return tx
}

// metrics are those that Spark's OPTIMIZE gives.
func (r *Rewrite) metrics() map[string]string {
	var sizes []int64
	for _, f := range r.writer.done {
		sizes = append(sizes, f.add.Size)
	}
	slices.Sort(sizes)
	m := map[string]int64{
		"numAddedFiles": int64(len(sizes)), "numAddedBytes": r.writer.bytes(),
		"numRemovedFiles": int64(len(r.removes)), "numRemovedBytes": r.Bytes(), "numDeletionVectorsRemoved": 0,
	}
	for i := range r.removes {
		if r.removes[i].DeletionVector != nil {
			m["numDeletionVectorsRemoved"]++
		}
	}
	if n := len(sizes); n > 0 {
		m["minFileSize"], m["p25FileSize"], m["p50FileSize"], m["p75FileSize"], m["maxFileSize"] = sizes[0], sizes[n/4], sizes[n/2], sizes[3*n/4], sizes[n-1]
	}
	texts := make(map[string]string, len(m))
	for name, n := range m {
		texts[name] = strconv.FormatInt(n, 10)
	}
	return texts
}

// Files and Bytes are the number and the size of the files that were added.
func (r *Rewrite) Files() int { return len(r.removes) }

// Bytes: see Files.
func (r *Rewrite) Bytes() int64 {
	var n int64
	for i := range r.removes {
		n += *r.removes[i].Size
	}
	return n
}
