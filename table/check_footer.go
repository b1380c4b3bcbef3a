package table

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
)

// footerCheck holds the values of a leaf in a row group against what its file's footer says of them, by which readers pass over row groups
// and pages: the statistics of the column chunk, and its column index (parquet.thrift, Statistics and ColumnIndex).
type footerCheck struct {
	where string // column and row group
	chunk footerBounds
	pages []footerBounds // nil: the file does not tell them
	taken int            // pages
}

// footerBounds are what is said of a column chunk, or of one of its pages.
type footerBounds struct {
	heldBounds
	noValues bool
	nulls    int64 // that there are
	saidNull int64 // -1: it is not told
}

// watchFooter has the leaf tell of its pages, and returns the check that hears of them.
func watchFooter(file *parquetfile.File, group int, leaf *leafColumn) (*footerCheck, error) {
	c := &footerCheck{where: fmt.Sprintf("column %s, row group %d", leaf.name, group)}
	m := &file.Metadata().RowGroups[group].Columns[leaf.index].MetaData
	told := &boundReader{leaf: leaf, physical: m.Type, ordered: orderedByType(file.Metadata(), leaf.index)}
	nulls := m.Statistics.NullCount
	if nulls == 0 {
		nulls = -1 // as if it were not told: parquet-go does not say which it is
	}
	var err error
	if c.chunk, err = told.bounds(m.Statistics.MinValue, m.Statistics.MaxValue, nulls); err != nil {
		return nil, fmt.Errorf("column %s: %w", leaf.name, err)
	}
	index, err := file.ColumnIndex(group, leaf.index)
	if err == nil && index != nil {
		c.pages, err = told.indexed(index)
	}
	if err != nil {
		return nil, fmt.Errorf("column %s: its column index: %w", leaf.name, err)
	}
	leaf.turned = func() error { return c.take(leaf) }
	return c, nil
}

// boundReader reads bounds of a leaf's values as these are read.
type boundReader struct {
	leaf     *leafColumn
	physical format.Type
	ordered  bool // as the leaf's type defines it
}

// orderedByType says whether bounds of the column are in the order that its type defines; those of others mean nothing.
func orderedByType(m *format.FileMetaData, column int) bool {
	if column >= len(m.ColumnOrders) {
		return false
	}
	_, ok := m.ColumnOrders[column].Value.(*format.TypeDefinedOrder)
	return ok
}

// indexed are the bounds of the pages.
func (r *boundReader) indexed(index *format.ColumnIndex) ([]footerBounds, error) {
	pages := make([]footerBounds, len(index.NullPages))
	for i := range pages {
		nulls := int64(-1)
		if len(index.NullCounts) > 0 {
			nulls = index.NullCounts[i]
		}
		low, high := index.MinValues[i], index.MaxValues[i]
		if index.NullPages[i] {
			low, high = nil, nil
		}
		var err error
		if pages[i], err = r.bounds(low, high, nulls); err != nil {
			return nil, fmt.Errorf("page %d: %w", i, err)
		}
		pages[i].noValues = index.NullPages[i]
	}
	return pages, nil
}

func (r *boundReader) bounds(low, high []byte, nulls int64) (b footerBounds, err error) {
	b.saidNull = nulls
	if r.leaf.maxRep > 0 {
		b.saidNull = -1 // whether a list without items counts is not agreed upon
	}
	if !r.ordered || r.physical == format.Int96 {
		return b, nil
	}
	if b.min, err = r.bound(low); err == nil {
		b.max, err = r.bound(high)
	}
	return b, err
}

// bound is nil if there is none, or it is NaN, which is none.
func (r *boundReader) bound(plain []byte) (Value, error) {
	if plain == nil {
		return nil, nil
	}
	stored, ok := plainBound(r.physical, plain)
	if !ok {
		return nil, fmt.Errorf("a bound of %d bytes is none of type %s", len(plain), r.physical)
	}
	values := newLeafValues(r.leaf.values.typ)
	if err := r.leaf.read(&values, stored, 0, 1); err != nil {
		return nil, fmt.Errorf("a bound: %w", err)
	}
	v := valueAt(array.MakeFromData(values.array(1, nil)), 0, values.typ.Scale)
	if isNaN(v) {
		return nil, nil
	}
	return v, nil
}

// plainBound is a bound as a page of one value; false if it has the wrong length.
func plainBound(t format.Type, b []byte) (v encoding.Values, ok bool) {
	switch {
	case t == format.Boolean && len(b) == 1:
		return encoding.BooleanValues(b), true
	case t == format.Int32 && len(b) == 4:
		return encoding.Int32Values([]int32{int32(binary.LittleEndian.Uint32(b))}), true
	case t == format.Int64 && len(b) == 8:
		return encoding.Int64Values([]int64{int64(binary.LittleEndian.Uint64(b))}), true
	case t == format.Float && len(b) == 4:
		return encoding.FloatValues([]float32{math.Float32frombits(binary.LittleEndian.Uint32(b))}), true
	case t == format.Double && len(b) == 8:
		return encoding.DoubleValues([]float64{math.Float64frombits(binary.LittleEndian.Uint64(b))}), true
	case t == format.ByteArray:
		return encoding.ByteArrayValues(b, []uint32{0, uint32(len(b))}), true
	case t == format.FixedLenByteArray && len(b) > 0:
		return encoding.FixedLenByteArrayValues(b, len(b)), true
	default:
		return v, false
	}
}

// take takes in the page that the leaf has turned to.
func (c *footerCheck) take(leaf *leafColumn) error {
	p := &leaf.page
	n := p.present(leaf.maxDef, p.entries)
	values := newLeafValues(leaf.values.typ)
	var err error
	if p.ids != nil {
		err = values.pick(&leaf.dict.values, p.ids)
	} else if n > 0 {
		err = leaf.read(&values, p.data, 0, n)
	}
	if err != nil {
		return err
	}
	dense := array.MakeFromData(values.array(n, nil))
	c.taken = leaf.turns
	said := []*footerBounds{&c.chunk}
	if c.taken <= len(c.pages) {
		said = append(said, &c.pages[c.taken-1])
	}
	for _, b := range said {
		b.nulls += int64(p.entries - n)
	}
	for i := range n {
		v := valueAt(dense, i, values.typ.Scale)
		for _, b := range said {
			b.take(v)
		}
	}
	return nil
}

// judge tells what the values are not as it is said.
func (c *footerCheck) judge(check *fileCheck) {
	c.chunk.judge(check, c.where, "the file's footer")
	if c.pages != nil && c.taken > len(c.pages) {
		check.fault("%s has %d pages, its column index %d", c.where, c.taken, len(c.pages))
	}
	for i := range c.pages {
		c.pages[i].judge(check, fmt.Sprintf("%s, page %d", c.where, i), "the column index")
	}
}

func (b *footerBounds) judge(check *fileCheck, where, by string) {
	b.heldBounds.judge(check, where, by)
	if b.noValues && b.some {
		check.fault("%s has values, by %s only nulls", where, by)
	}
	if b.saidNull >= 0 && b.saidNull != b.nulls {
		check.fault("%s has %d nulls, by %s %d", where, b.nulls, by, b.saidNull)
	}
}
