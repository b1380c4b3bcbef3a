package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

const (
	stepRows   = 1024     // rows read from one column before the next one's turn
	batchRows  = 8192     // rows of a record that a scan hands out
	batchBytes = 16 << 20 // or fewer, when their strings are this long
)

// fileReader hands out the rows of one data file as records of the schema, in order. Columns that the file does not have are
// null; those in constants have one value in all rows.
type fileReader struct {
	file         place
	schema       *schema.Type
	constants    map[string]Value
	deleted      func(rows int64) (deletionVector, error) // nil when none of the file's rows have been
	dictionaries bool                                     // texts that the file has in a dictionary may be in one in the records
	fn           func(arrow.Record) error
	opened       func(file *parquetfile.File, group int, leaf *leafColumn) error // nil, or hears of each leaf with values before it is read
}

func (f *fileReader) read(ctx context.Context) (err error) {
	object, err := f.file.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	file, err := parquetfile.Open(object, object.Size())
	if err != nil {
		return fmt.Errorf("read %s: %w", f.file.name(), err)
	}
	return f.readFile(ctx, file)
}

// readFile reads the file when it is open.
func (f *fileReader) readFile(ctx context.Context, file *parquetfile.File) (err error) {
	deleted, err := f.deletedRows(file.NumRows())
	if err != nil {
		return fmt.Errorf("read %s: %w", f.file.name(), err)
	}
	at := int64(0)
	for i, group := range file.RowGroups() {
		r := &groupReader{fileReader: f, group: i, at: at, rows: group.NumRows(), vector: deleted}
		if err := r.read(ctx, file); err != nil {
			return err
		}
		at += group.NumRows()
	}
	return nil
}

// deletedRows are which rows of a file of so many have been deleted.
func (f *fileReader) deletedRows(rows int64) (deletionVector, error) {
	if f.deleted == nil {
		return nil, nil
	}
	return f.deleted(rows)
}

// groupReader reads one row group.
type groupReader struct {
	*fileReader
	group  int
	at     int64 // the next row, counted in the file
	rows   int64 // still to be read
	vector deletionVector

	leaves  []*leafColumn
	sources []*source // by field of the schema; nil for what the file does not have
}

func (r *groupReader) read(ctx context.Context, file *parquetfile.File) (err error) {
	defer func() {
		for _, c := range r.leaves {
			err = errors.Join(err, c.close())
		}
	}()
	if err := r.open(file); err != nil {
		return fmt.Errorf("read %s, row group %d: %w", r.file.name(), r.group, err)
	}
	for r.rows > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.batch(); err != nil {
			return err
		}
	}
	return nil
}

// open finds the columns in the file.
func (r *groupReader) open(file *parquetfile.File) (err error) {
	defer parquetfile.Recover(&err)
	root := file.Root()
	if lacksIDs(r.schema, root) {
		return errors.New("the table knows its columns by field ids, and the file has none; have the engine that wrote the file rewrite it")
	}
	s := &sources{file: file, group: r.group, dictionaries: r.dictionaries, byIndex: make(map[int]*leafColumn)}
	for _, f := range r.schema.Fields {
		var src *source
		if _, constant := r.constants[f.Name]; !constant {
			if src, err = s.column(f.Type, fileColumn(root, &f), 0); err != nil {
				return err
			}
		}
		r.sources = append(r.sources, src)
	}
	r.leaves = s.leaves
	for _, leaf := range r.leaves {
		if r.opened != nil && leaf.read != nil {
			if err := r.opened(file, r.group, leaf); err != nil {
				return err
			}
		}
	}
	return nil
}

// batch reads and hands out one record.
func (r *groupReader) batch() error {
	record, err := r.next()
	if err != nil {
		return fmt.Errorf("read %s, row group %d: %w", r.file.name(), r.group, err)
	}
	defer record.Release()
	if record.NumRows() == 0 {
		return nil
	}
	return r.fn(record)
}

// next reads the rows of the next record.
func (r *groupReader) next() (record arrow.Record, err error) {
	defer parquetfile.Recover(&err)
	for _, c := range r.leaves {
		c.begin(int(min(r.rows, batchRows)))
	}
	n := int64(0)
	for r.rows > 0 && n < batchRows && r.textBytes() <= batchBytes {
		step := r.vector.run(r.at, min(r.rows, stepRows))
		pass := (*leafColumn).take
		if r.vector.has(r.at) {
			pass = (*leafColumn).skip
		} else {
			n += step
		}
		for _, c := range r.leaves {
			if err := pass(c, int(step)); err != nil {
				return nil, err
			}
		}
		r.rows -= step
		r.at += step
	}
	return r.record(int(n))
}

// textBytes is how much the texts read so far take.
func (r *groupReader) textBytes() int64 {
	var n int64
	for _, c := range r.leaves {
		n += c.values.bytes()
	}
	return n
}

// record makes a record of the rows that the leaves have taken.
func (r *groupReader) record(rows int) (arrow.Record, error) {
	arrays, columns := make([]arrow.ArrayData, len(r.sources)), make([]arrow.Array, len(r.sources))
	for i, f := range r.schema.Fields {
		var err error
		if arrays[i], err = r.column(i, &f, rows); err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		columns[i] = array.MakeFromData(arrays[i])
	}
	return array.NewRecord(arrow.NewSchema(typed(r.schema, arrays), nil), columns, int64(rows)), nil
}

func (r *groupReader) column(at int, f *schema.Field, rows int) (arrow.ArrayData, error) {
	if v, constant := r.constants[f.Name]; constant {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type.ArrowType())
		appendConstant(b, v, rows)
		return b.NewArray().Data(), nil
	}
	if r.sources[at] == nil {
		return nullArray(f.Type, rows), nil
	}
	return r.sources[at].assemble(rows, 0)
}

// appendConstant appends a partition's value n times.
func appendConstant(b array.Builder, v Value, n int) {
	if v == nil {
		b.AppendNulls(n)
		return
	}
	b.Reserve(n)
	for range n {
		switch b := b.(type) {
		case *array.BooleanBuilder:
			b.Append(v.(bool))
		case *array.Int8Builder:
			b.Append(int8(v.(int64)))
		case *array.Int16Builder:
			b.Append(int16(v.(int64)))
		case *array.Int32Builder:
			b.Append(int32(v.(int64)))
		case *array.Int64Builder:
			b.Append(v.(int64))
		case *array.Float32Builder:
			b.Append(float32(v.(float64)))
		case *array.Float64Builder:
			b.Append(v.(float64))
		case *array.Decimal128Builder:
			b.Append(v.(Decimal).Unscaled)
		case *array.Date32Builder:
			b.Append(arrow.Date32(v.(int64)))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(v.(int64)))
		case *array.StringBuilder:
			b.Append(v.(string))
		case *array.BinaryBuilder:
			b.Append([]byte(v.(string)))
		}
	}
}
