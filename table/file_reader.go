package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
)

const (
	stepRows   = 1024     // rows read from one column before the next one's turn
	batchRows  = 8192     // rows of a record that a scan hands out
	batchBytes = 16 << 20 // or fewer, when their strings are this long
)

// readFile hands out the rows of one data file as records of the schema, in order. Columns that the file does not have are
// null; those in constants have one value in all rows.
func readFile(ctx context.Context, store storage.Store, key string, t *schema.Type, constants map[string]Value, fn func(arrow.Record) error) (err error) {
	object, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	file, err := openParquet(object, object.Size())
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	for i, group := range file.RowGroups() {
		r := &groupReader{key: key, group: i, schema: t, constants: constants, rows: group.NumRows(), fn: fn}
		if err := r.read(ctx, file.Root(), group); err != nil {
			return err
		}
	}
	return nil
}

func openParquet(object io.ReaderAt, size int64) (file *parquet.File, err error) {
	defer recoverCorrupt(&err)
	if err := checkFooter(object, size); err != nil {
		return nil, err
	}
	if file, err = parquet.OpenFile(object, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, err
	}
	return file, checkCodecs(file)
}

// checkCodecs refuses LZ4_RAW: parquet-go gives back other memory than it has decoded into when a page is compressed to
// more than a third.
func checkCodecs(file *parquet.File) error {
	for _, g := range file.Metadata().RowGroups {
		for _, c := range g.Columns {
			if c.MetaData.Codec == format.Lz4Raw {
				return fmt.Errorf("column %s is compressed by LZ4_RAW, which cannot be read; have the engine that wrote the file rewrite it with another codec",
					strings.Join(c.MetaData.PathInSchema, "."))
			}
		}
	}
	return nil
}

// checkFooter holds the footer's length against the file's before anything is allocated for it.
func checkFooter(object io.ReaderAt, size int64) error {
	var tail [8]byte // of a footer: its length, and the magic
	if size < int64(len("PAR1")+len(tail)) {
		return fmt.Errorf("the file has %d bytes, too few for Parquet; restore it from a copy", size)
	}
	if _, err := object.ReadAt(tail[:], size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:4])); n > size-int64(len("PAR1")+len(tail)) {
		return fmt.Errorf("the Parquet file is damaged: a footer of %d bytes in a file of %d; restore it from a copy", n, size)
	}
	return nil
}

// recoverCorrupt turns a panic into an error: the Parquet decoder answers some damaged files with one.
func recoverCorrupt(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("the Parquet file is damaged: %v; restore it from a copy", cause)
	}
}

// groupReader reads one row group.
type groupReader struct {
	key       string
	group     int
	schema    *schema.Type
	constants map[string]Value
	rows      int64 // still to be read
	fn        func(arrow.Record) error

	cursors map[int]*cursor
	sources []*source
	builder *array.RecordBuilder
}

func (r *groupReader) read(ctx context.Context, root *parquet.Column, group parquet.RowGroup) (err error) {
	r.cursors = make(map[int]*cursor)
	defer func() {
		for _, c := range r.cursors {
			err = errors.Join(err, c.close())
		}
	}()
	if err := r.open(root, group); err != nil {
		return fmt.Errorf("read %s, row group %d: %w", r.key, r.group, err)
	}
	r.builder = array.NewRecordBuilder(memory.DefaultAllocator, r.schema.ArrowSchema())
	defer r.builder.Release()
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
func (r *groupReader) open(root *parquet.Column, group parquet.RowGroup) (err error) {
	defer recoverCorrupt(&err)
	s := &sources{group: group, cursors: r.cursors}
	for _, f := range r.schema.Fields {
		var src *source
		if _, constant := r.constants[f.Name]; !constant {
			if src, err = s.column(f.Type, root.Column(f.Name), 0); err != nil {
				return err
			}
		}
		r.sources = append(r.sources, src)
	}
	return nil
}

// batch reads and hands out one record.
func (r *groupReader) batch() error {
	before := r.stringBytes()
	for n := int64(0); r.rows > 0 && n < batchRows; {
		step := min(r.rows, stepRows)
		if err := r.step(int(step)); err != nil {
			return fmt.Errorf("read %s, row group %d: %w", r.key, r.group, err)
		}
		r.rows -= step
		n += step
		if r.stringBytes()-before > batchBytes {
			break
		}
	}
	record, err := r.record()
	if err != nil {
		return err
	}
	defer record.Release()
	return r.fn(record)
}

// record takes the rows out of the builder.
func (r *groupReader) record() (record arrow.Record, err error) {
	defer recoverCorrupt(&err)
	return r.builder.NewRecord(), nil
}

// stringBytes is how much the strings read so far take.
func (r *groupReader) stringBytes() int64 {
	var n int64
	for _, c := range r.cursors {
		n += c.bytes
	}
	return n
}

// step reads n rows of each column.
func (r *groupReader) step(n int) (err error) {
	defer recoverCorrupt(&err)
	for i, f := range r.schema.Fields {
		b := r.builder.Field(i)
		if v, constant := r.constants[f.Name]; constant {
			appendConstant(b, v, n)
			continue
		}
		src := r.sources[i]
		if src == nil {
			b.AppendNulls(n)
			continue
		}
		for range n {
			if err := src.assemble(b); err != nil {
				return fmt.Errorf("column %s: %w", f.Name, err)
			}
		}
	}
	return nil
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
