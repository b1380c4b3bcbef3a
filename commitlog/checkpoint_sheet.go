package commitlog

import (
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// sheetRows and sheetBytes bound a row group: by its rows, and by its texts before compression. The compressed pages of one
	// are held in memory.
	sheetRows  = 1 << 16
	sheetBytes = 32 << 20
	// batchRows is how many rows go into the columns at a time.
	batchRows = 256
)

// sheet writes a log checkpoint, or a sidecar, as Parquet. Each row has one action, in the column of its name; rows of one action
// come in batches, and are written column by column.
type sheet struct {
	schema  *parquet.Schema
	out     *parquet.GenericWriter[any]
	cells   []*cell // by leaf
	batch   int     // rows
	action  string  // of the batch
	text    []byte  // that the batch's values are in
	nulls   [batchRows]parquet.Value
	rows    int64 // of the file
	inGroup int64
	bytes   int64 // of the row group's texts
}

// cell is a leaf of the rows in the batch.
type cell struct {
	out    *parquet.ColumnWriter
	action string
	leaf   int
	def    int // definition level of a value that is there
	values []parquet.Value
}

func newSheet(out io.Writer, root parquet.Node) *sheet {
	s := &sheet{schema: parquet.NewSchema("spark_schema", root)}
	s.out = parquet.NewGenericWriter[any](out, &parquet.WriterConfig{
		Schema: s.schema, CreatedBy: "sluice", DataPageVersion: 1, Compression: &zstd.Codec{Level: zstd.SpeedFastest}, PageBufferSize: 256 << 10, WriteBufferSize: 1 << 20,
		DataPageStatistics: false, ColumnIndexSizeLimit: func([]string) int { return 16 },
	})
	writers := s.out.ColumnWriters()
	for i, path := range s.schema.Columns() {
		found, _ := s.schema.Lookup(path...)
		s.cells = append(s.cells, &cell{out: writers[i], action: path[0], leaf: i, def: found.MaxDefinitionLevel})
	}
	return s
}

// cell is nil when the sheet has no such leaf.
func (s *sheet) cell(path ...string) *cell {
	found, ok := s.schema.Lookup(path...)
	if !ok {
		return nil
	}
	return s.cells[found.ColumnIndex]
}

// row ends a row of an action, whose cells have been filled, all of them.
func (s *sheet) row(action string) error {
	s.action = action
	if s.batch++; s.batch < batchRows {
		return nil
	}
	return s.flush()
}

// flush writes the batch. It is to be called before the rows of another action.
func (s *sheet) flush() error {
	if s.batch == 0 {
		return nil
	}
	for _, c := range s.cells {
		values := s.nulls[:s.batch]
		if c.action == s.action {
			values = c.values
		}
		if _, err := c.out.WriteRowValues(values); err != nil {
			return err
		}
		c.values = c.values[:0]
	}
	s.rows += int64(s.batch)
	s.inGroup += int64(s.batch)
	s.bytes += int64(len(s.text))
	s.batch, s.text = 0, s.text[:0]
	if s.inGroup < sheetRows && s.bytes < sheetBytes {
		return nil
	}
	s.inGroup, s.bytes = 0, 0
	return s.out.Flush()
}

func (s *sheet) close() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.out.Close()
}

// keep copies a text into the batch.
func (s *sheet) keep(text string) []byte {
	start := len(s.text)
	s.text = append(s.text, text...)
	return s.text[start:len(s.text):len(s.text)]
}

func (c *cell) put(v parquet.Value) { c.values = append(c.values, v.Level(0, c.def, c.leaf)) }

// null is for a value that is not there, while all around it is.
func (c *cell) null() { c.nullAt(c.def - 1) }

func (c *cell) nullAt(def int) {
	c.values = append(c.values, parquet.Value{}.Level(0, def, c.leaf))
}

func (c *cell) int(v *int64) {
	if v == nil {
		c.null()
	} else {
		c.put(parquet.Int64Value(*v))
	}
}

// putText takes an empty text as absent.
func (s *sheet) putText(c *cell, text string) {
	if text == "" {
		c.null()
	} else {
		c.put(parquet.ByteArrayValue(s.keep(text)))
	}
}

// repeat appends the i-th value inside a list or map.
func (c *cell) repeat(i int, v parquet.Value, def int) {
	c.values = append(c.values, v.Level(min(i, 1), def, c.leaf))
}

// mapCells are the leaves of a map of texts.
type mapCells struct{ key, value *cell }

func (s *sheet) mapping(path ...string) mapCells {
	inside := func(name string) *cell { return s.cell(append(append([]string{}, path...), "key_value", name)...) }
	return mapCells{inside("key"), inside("value")}
}

func (m mapCells) null() {
	m.key.nullAt(m.key.def - 2)
	m.value.nullAt(m.value.def - 3)
}

func (m mapCells) empty() {
	m.key.nullAt(m.key.def - 1)
	m.value.nullAt(m.value.def - 2)
}

// put appends the i-th entry; a value that is nil is null.
func (m mapCells) put(s *sheet, i int, key string, value *string) {
	m.key.repeat(i, parquet.ByteArrayValue(s.keep(key)), m.key.def)
	if value == nil {
		m.value.repeat(i, parquet.Value{}, m.value.def-1)
	} else {
		m.value.repeat(i, parquet.ByteArrayValue(s.keep(*value)), m.value.def)
	}
}
