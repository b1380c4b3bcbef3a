package table

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

const (
	chunkRows  = 1024      // rows that are turned into Parquet values at a time
	chunkBytes = 256 << 10 // or fewer, when they are long
	pageBytes  = 1 << 20   // raw bytes of a page, at most
	dictBytes  = 1 << 20   // a dictionary that grows beyond ends, and the rest of the column is stored plain
	groupBytes = 64 << 20  // raw bytes of a row group
)

// layout is what all data files of one table have in common.
type layout struct {
	stored  *schema.Type
	columns []*column
	leaves  int
	paths   []string        // of the leaves, dotted
	long    map[string]bool // leaves, by path, that have long values
	parquet *parquet.Schema
	codec   codec
	engine  string // created_by
}

// newLayout returns the layout of files that hold the struct's fields. long are the leaves, by path, that are known to have
// long values.
func newLayout(t *schema.Type, c codec, engine string, long map[string]bool) *layout {
	columns, paths := columnsOf(t)
	return &layout{stored: t, columns: columns, leaves: len(paths), paths: paths, long: long, parquet: parquetSchema(t, long), codec: c, engine: engine}
}

// with returns the layout for other long columns.
func (l *layout) with(long map[string]bool) *layout {
	changed := *l
	changed.long = long
	changed.parquet = parquetSchema(l.stored, long)
	return &changed
}

// encoder turns the rows of bound columns into one Parquet file after the other. Its memory is at most one row group's,
// and the pages being filled. Not safe for concurrent use.
type encoder struct {
	layout *layout
	out    *countingWriter
	file   *parquet.GenericWriter[any]
	chunk  [][]parquet.Value // by leaf
	sized  []int             // values of the chunk whose bytes are counted, by leaf
	page   []int64           // raw bytes since the last page, by leaf
	long   []bool            // whether a value was long, by leaf
	group  int64             // raw bytes since the last row group
}

func newEncoder(l *layout, pageBuffer int) *encoder {
	e := &encoder{
		layout: l, out: &countingWriter{},
		chunk: make([][]parquet.Value, l.leaves), sized: make([]int, l.leaves), page: make([]int64, l.leaves), long: make([]bool, l.leaves),
	}
	e.file = parquet.NewGenericWriter[any](e.out, &parquet.WriterConfig{
		CreatedBy:          l.engine,
		Schema:             l.parquet,
		Compression:        l.codec.Codec,
		DataPageVersion:    1,
		PageBufferSize:     pageBuffer,
		WriteBufferSize:    32 << 10,
		SkipPageBounds:     withoutBounds(l.parquet),
		DictionaryMaxBytes: dictBytes,
	}, parquet.DataPageStatistics(false)) // readers go by the column index, which has the same, cut to a bearable length
	return e
}

// begin starts a file.
func (e *encoder) begin(w io.Writer) {
	*e.out = countingWriter{to: w}
	e.file.Reset(e.out)
	clear(e.page)
	e.group = 0
}

// write appends rows, by their index in the record that the columns are bound to.
func (e *encoder) write(columns []*bound, rows []int32) error {
	for len(rows) > 0 {
		n, err := e.shredChunk(columns, rows)
		if err != nil {
			return err
		}
		rows = rows[n:]
		if err := e.writeChunk(); err != nil {
			return err
		}
		if e.group >= groupBytes {
			if err := e.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// shredChunk fills the chunk with rows from the front, and says how many.
func (e *encoder) shredChunk(columns []*bound, rows []int32) (int, error) {
	for leaf := range e.chunk {
		e.chunk[leaf] = e.chunk[leaf][:0]
		e.sized[leaf] = 0
	}
	var size int64
	for n, row := range rows {
		if n == chunkRows || size >= chunkBytes {
			return n, nil
		}
		for _, c := range columns {
			if err := c.shred(e.chunk, int(row)); err != nil {
				return 0, err
			}
		}
		size += e.sizeUp()
	}
	return len(rows), nil
}

// sizeUp counts the raw bytes of the values that came since the last call.
func (e *encoder) sizeUp() int64 {
	var total int64
	for leaf, values := range e.chunk {
		var size int64
		for _, v := range values[e.sized[leaf]:] {
			raw := rawBytes(v)
			size += raw
			e.long[leaf] = e.long[leaf] || raw > longValue
		}
		e.sized[leaf] = len(values)
		e.page[leaf] += size
		total += size
	}
	e.group += total
	return total
}

// rawBytes is about what a value takes in a page before compression.
func rawBytes(v parquet.Value) int64 {
	if v.IsNull() {
		return 1
	}
	switch v.Kind() {
	case parquet.ByteArray:
		return 4 + int64(len(v.ByteArray()))
	case parquet.FixedLenByteArray:
		return 16
	default:
		return 8
	}
}

// writeChunk gives the chunk to the columns' writers, and ends the pages that are long enough.
func (e *encoder) writeChunk() error {
	for leaf, w := range e.file.ColumnWriters() {
		if _, err := w.WriteRowValues(e.chunk[leaf]); err != nil {
			return fmt.Errorf("encode column %d: %w", leaf, err)
		}
		if e.page[leaf] < pageBytes {
			continue
		}
		// A column writer counts only the indexes of values in a dictionary, not the values.
		if err := w.Flush(); err != nil {
			return fmt.Errorf("encode column %d: %w", leaf, err)
		}
		e.page[leaf] = 0
	}
	return nil
}

// endGroup writes the row group so far to the file.
func (e *encoder) endGroup() error {
	clear(e.page)
	e.group = 0
	if err := e.file.Flush(); err != nil {
		return fmt.Errorf("write row group: %w", err)
	}
	return nil
}

// end finishes the file and returns its size in bytes.
func (e *encoder) end() (int64, error) {
	if err := e.file.Close(); err != nil {
		return 0, fmt.Errorf("finish Parquet file: %w", err)
	}
	e.group = 0
	return e.out.n, nil
}

// size is about what the file would take if it ended here.
func (e *encoder) size() int64 { return e.file.Size() }

// countingWriter counts what goes through it.
type countingWriter struct {
	to io.Writer
	n  int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.n += int64(n)
	return n, err
}
