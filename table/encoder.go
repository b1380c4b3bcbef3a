package table

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

const (
	pageRows   = 20_000    // rows of a page, at most
	sliceRows  = 4096      // rows that are taken apart at a time
	sliceBytes = 256 << 10 // or fewer, when they are long
	stretch    = 16        // slices between two looks at the size of the row group
	aloneCells = 4096      // of a stretch, up to which it is not worth while to encode columns side by side
	dictBytes  = 1 << 20   // a dictionary that grows beyond ends, and the rest of the column chunk is stored plain
)

// writeBytes are gathered before they are written to a file.
const writeBytes = 32 << 10

// magic is at both ends of a Parquet file.
const magic = "PAR1"

// layout is what all data files of one table have in common.
type layout struct {
	fields  []schema.Field
	columns []*column // of the fields
	nodes   int
	leaves  []*leaf
	counted []*column // by leaf
	codec   codec
	compact bool
	choice  statsChoice
	chosen  map[string]struct{} // paths that have statistics
	footer  format.FileMetaData // of an empty file

	groupBytes int64 // of a row group, in the memory that it takes: most of it is compressed
	pageBytes  int64 // of a page before compression

	parallelism int // columns that are encoded side by side
}

// newLayout returns the layout of files that hold the struct's fields, as a table's properties want them.
func newLayout(t *schema.Type, properties map[string]string, engine string, zstd codec) (l *layout, err error) {
	l = &layout{parallelism: 1}
	if l.codec, err = codecOf(properties, zstd); err != nil {
		return nil, err
	}
	if l.compact, err = compactOf(properties); err != nil {
		return nil, err
	}
	if l.choice, err = statsChoiceOf(properties); err != nil {
		return nil, err
	}
	if l.groupBytes, err = groupSizeOf(properties); err != nil {
		return nil, err
	}
	if l.pageBytes, err = pageSizeOf(properties); err != nil {
		return nil, err
	}
	l.fields = t.Fields
	l.columns, l.nodes = columnsOf(t)
	l.chosen = l.choice.Of(t)
	// The schema's elements and the columns' order are what parquet-go makes of them.
	s := parquetSchema(t)
	var empty bytes.Buffer
	if err := parquet.NewGenericWriter[any](&empty, &parquet.WriterConfig{Schema: s, CreatedBy: engine}).Close(); err != nil {
		return nil, fmt.Errorf("lay out the Parquet schema: %w", err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(empty.Bytes()), int64(empty.Len()))
	if err != nil {
		return nil, fmt.Errorf("lay out the Parquet schema: %w", err)
	}
	l.footer = *file.Metadata()
	var types []*schema.Type
	for _, c := range l.columns {
		types = c.appendLeafTypes(types)
	}
	for i, path := range s.Columns() {
		found, _ := s.Lookup(path...)
		l.leaves = append(l.leaves, &leaf{
			path: path, typ: types[i], physical: format.Type(found.Node.Type().Kind()), annotated: annotatedType(found.Node),
			maxDef: found.MaxDefinitionLevel, maxRep: found.MaxRepetitionLevel,
		})
	}
	l.counted = counted(l.columns, len(l.leaves))
	for _, path := range commitlog.ColumnNames(properties[bloomProperty]) {
		if bloomFault(l.columns, path) == nil {
			l.leaves[findColumn(l.columns, path).firstLeaf].filtered = true
		}
	}
	return l, nil
}

// annotatedType tells a leaf's type apart from all others: how it is stored, and what that means. An integer of all its bits may say so, or not.
func annotatedType(n parquet.Node) string {
	t := n.Type()
	if l := t.LogicalType(); l != nil {
		if i, ok := l.Value.(*format.IntType); ok && i.IsSigned && int(i.BitWidth) == t.Length() {
			return fmt.Sprintf("%s(%d) %[1]s", t.Kind(), t.Length())
		}
	}
	return fmt.Sprintf("%s(%d) %s", t.Kind(), t.Length(), t)
}

// encoder turns the rows of bound columns into one Parquet file after the other. It holds a row group: compressed pages, and
// of each leaf the page that is being filled. Not safe for concurrent use.
type encoder struct {
	layout    *layout
	pageBytes int64 // of a page before compression, about
	out       *countingWriter
	shredder  *shredder
	chunks    []*chunk
	groupRows int64
	held      int64          // what the row group takes in memory, about, in bytes
	groups    []writtenGroup // of the file
	pages     pageDecoder    // of files that are joined
	agreement *agreement     // of their leaves
}

// newEncoder returns an encoder whose pages have about so many bytes before compression.
func newEncoder(l *layout, pageBytes int64, w *workspace) *encoder {
	e := &encoder{layout: l, pageBytes: pageBytes, out: &countingWriter{to: bufio.NewWriterSize(nil, writeBytes)}}
	for _, leaf := range l.leaves {
		e.chunks = append(e.chunks, newChunk(leaf, l.codec, newPageValues(leaf.typ, l, pageBytes), w))
	}
	e.shredder, e.agreement = newShredder(l.nodes, e.add), newAgreement(l.columns)
	return e
}

// add gives a leaf's values and levels to its chunk.
func (e *encoder) add(b *bound, at []int32, l levelled, rows int) error {
	k := e.chunks[b.firstLeaf]
	if err := k.endJoinedPage(); err != nil {
		return err
	}
	k.add(b.values, at, l, rows)
	return e.endFullPage(k)
}

// endFullPage ends the chunk's page when it is full.
func (e *encoder) endFullPage(k *chunk) error {
	if k.buffered() >= e.pageBytes || k.rows >= pageRows {
		return k.endPage()
	}
	return nil
}

// begin starts a file.
func (e *encoder) begin(w io.Writer) error {
	e.out.to.Reset(w)
	e.out.n = 0
	e.groups = nil
	clear(e.shredder.nulls)
	for _, k := range e.chunks {
		k.beginFile()
	}
	_, err := io.WriteString(e.out, magic)
	return err
}

// write appends rows, by their index in the record that the columns are bound to. bytes is about what one takes.
func (e *encoder) write(columns []*bound, rows []int32, bytes int64) error {
	if err := checkNotNull(columns, rows); err != nil {
		return err
	}
	slice := sliceOf(bytes)
	for some := range slices.Chunk(rows, stretch*slice) {
		if err := e.shred(columns, some, slice); err != nil {
			return err
		}
		e.groupRows += int64(len(some))
		if e.measure(); e.held >= e.layout.groupBytes {
			if err := e.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sliceOf is how many rows are taken apart at a time that take about so many bytes each.
func sliceOf(bytes int64) int { return int(min(max(sliceBytes/max(bytes, 1), 1), sliceRows)) }

// shred takes rows apart, a slice at a time, and columns side by side.
func (e *encoder) shred(columns []*bound, rows []int32, slice int) error {
	workers := e.layout.parallelism
	if len(rows)*len(columns) <= aloneCells {
		workers = 1
	}
	return sideBySide(workers, len(columns), func(i int) error {
		for part := range slices.Chunk(rows, slice) {
			if err := e.shredder.shred(columns[i], part); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *encoder) measure() {
	e.held = 0
	for _, k := range e.chunks {
		e.held += k.memory()
	}
}

// endGroup writes the row group so far to the file.
func (e *encoder) endGroup() error {
	if e.groupRows == 0 {
		return nil
	}
	if err := sideBySide(e.layout.parallelism, len(e.chunks), func(i int) error { return e.chunks[i].endPage() }); err != nil {
		return fmt.Errorf("write row group: %w", err)
	}
	group := writtenGroup{rows: e.groupRows}
	for _, k := range e.chunks {
		w, err := k.writeTo(e.out)
		if err != nil {
			return fmt.Errorf("write row group: %w", err)
		}
		group.chunks = append(group.chunks, w)
	}
	for i, k := range e.chunks {
		if err := k.writeFilter(e.out, &group.chunks[i]); err != nil {
			return fmt.Errorf("write Bloom filter: %w", err)
		}
	}
	e.groups = append(e.groups, group)
	e.groupRows = 0
	e.measure()
	return nil
}

// end finishes the file and returns its size in bytes.
func (e *encoder) end() (int64, error) {
	if err := e.endGroup(); err != nil {
		return 0, err
	}
	err := writeFooter(e.out, e.layout.footer, e.groups)
	if err == nil {
		err = e.out.to.Flush()
	}
	if err != nil {
		return 0, fmt.Errorf("finish Parquet file: %w", err)
	}
	return e.out.n, nil
}

// size is about what the file would take if it ended here.
func (e *encoder) size() int64 {
	n := e.out.n
	for _, k := range e.chunks {
		n += int64(k.pages.len()) + k.buffered()
	}
	return n
}

// countingWriter counts what goes through it.
type countingWriter struct {
	to *bufio.Writer
	n  int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.n += int64(n)
	return n, err
}
