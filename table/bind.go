package table

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/schema"
)

// bound is a column over the Arrow array that a record has for it.
type bound struct {
	*column
	values   arrow.Array // nil when the record has no such column: all null
	offsets  []int32     // of lists and maps: where the items of each begin, and behind it where the last end
	children []*bound
}

// bind finds the arrays of a record for the columns, by name.
func bind(columns []*column, record arrow.Record) ([]*bound, error) {
	bounds := make([]*bound, len(columns))
	for i, c := range columns {
		var values arrow.Array
		if at := record.Schema().FieldIndices(c.path); len(at) > 0 {
			values = record.Column(at[0])
		}
		b, err := c.bind(values)
		if err != nil {
			return nil, err
		}
		bounds[i] = b
	}
	return bounds, nil
}

// absent is the column where nothing has it: all null.
func (c *column) absent() *bound {
	b := &bound{column: c}
	for _, child := range c.children {
		b.children = append(b.children, child.absent())
	}
	return b
}

func (c *column) bind(values arrow.Array) (*bound, error) {
	if values == nil {
		return c.absent(), nil
	}
	b := &bound{column: c, values: values}
	switch c.typ.Kind {
	case schema.Struct:
		return b, b.bindStruct()
	case schema.Array:
		list, ok := values.(*array.List)
		if !ok {
			return nil, c.mismatch(values)
		}
		b.offsets = list.Offsets()[list.Offset():]
		return b, b.bindChildren(list.ListValues())
	case schema.Map:
		m, ok := values.(*array.Map)
		if !ok {
			return nil, c.mismatch(values)
		}
		b.offsets = m.Offsets()[m.Offset():]
		return b, b.bindChildren(m.Keys(), m.Items())
	default:
		return b, c.checkLeaf(values)
	}
}

// checkLeaf says why a leaf's values cannot be those of the array, or nil. Texts may be in a dictionary.
func (c *column) checkLeaf(values arrow.Array) error {
	want := c.typ.ArrowType().ID()
	if values.DataType().ID() == want {
		return nil
	}
	t, ok := values.DataType().(*arrow.DictionaryType)
	if !ok || t.IndexType.ID() != arrow.INT32 || t.ValueType.ID() != want || c.typ.Kind != schema.String && c.typ.Kind != schema.Binary {
		return c.mismatch(values)
	}
	if values.Len() > 0 && values.(*array.Dictionary).Dictionary().NullN() > 0 {
		return fmt.Errorf("column %s: a value of the record's dictionary is null; nulls belong to its indices", c.path)
	}
	return nil
}

func (b *bound) bindStruct() error {
	s, ok := b.values.(*array.Struct)
	if !ok {
		return b.mismatch(b.values)
	}
	t, ok := s.DataType().(*arrow.StructType)
	if !ok {
		return b.mismatch(b.values)
	}
	arrays := make([]arrow.Array, len(b.column.children))
	for i, f := range b.typ.Fields {
		if at, ok := t.FieldIdx(f.Name); ok {
			arrays[i] = s.Field(at)
		}
	}
	return b.bindChildren(arrays...)
}

func (b *bound) bindChildren(arrays ...arrow.Array) error {
	for i, c := range b.column.children {
		child, err := c.bind(arrays[i])
		if err != nil {
			return err
		}
		b.children = append(b.children, child)
	}
	return nil
}

func (c *column) mismatch(values arrow.Array) error {
	return fmt.Errorf("column %s: the record holds Arrow %s where the table has %s", c.path, values.DataType(), c.typ)
}

func (b *bound) null(i int) bool { return b.values == nil || b.values.IsNull(i) }

// appendBigEndian appends the last n bytes of a 128-bit number.
func appendBigEndian(b []byte, high int64, low uint64, n int) []byte {
	for i := n - 1; i >= 0; i-- {
		if i >= 8 {
			b = append(b, byte(high>>((i-8)*8)))
		} else {
			b = append(b, byte(low>>(i*8)))
		}
	}
	return b
}
