package zorder

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// view is a column of the values of an array that begins with its buffers, in the memory of that. Texts of an array that has a
// dictionary get their numbers in the shape's, as long as that has room.
func (s *shape) view(d arrow.ArrayData) (*column, error) {
	c := &column{shape: s, n: d.Len()}
	if d.NullN() != 0 {
		c.valid = bufferOf(d, 0)
	}
	if d.DataType().ID() == arrow.DICTIONARY {
		return c, c.viewIndexed(cast[int32](bufferOf(d, 1)), d.Dictionary())
	}
	switch s.form {
	case structs:
	case texts:
		c.fixed, c.texts = bufferOf(d, 1), bufferOf(d, 2)
	default:
		c.fixed = bufferOf(d, 1)
	}
	for i, child := range s.children {
		below, err := child.view(d.Children()[i])
		if err != nil {
			return nil, err
		}
		c.children = append(c.children, below)
	}
	return c, nil
}

func bufferOf(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

// viewIndexed views texts that are in a dictionary of their array.
func (c *column) viewIndexed(indexes []int32, of arrow.ArrayData) error {
	indexes = indexes[:c.n]
	if known := c.dictionary.numbersOf(of); known != nil {
		numbers := make([]int32, c.n)
		for i, index := range indexes {
			numbers[i] = known[index]
		}
		c.fixed, c.numbered = bytesOf(numbers), true
		return nil
	}
	starts, bytes := cast[int32](bufferOf(of, 1)), bufferOf(of, 2)
	return c.appendTexts(c.n, func(i int) []byte {
		if of.Len() == 0 { // all are null
			return nil
		}
		return bytes[starts[indexes[i]]:starts[indexes[i]+1]]
	})
}

// data is an array of the values, in the memory of the column. The types of texts in the dictionary, and of what is around them,
// are others than the table's.
func (c *column) data() arrow.ArrayData {
	var valid *arrowmemory.Buffer
	nulls := 0
	if len(c.valid) > 0 {
		valid = arrowmemory.NewBufferBytes(c.valid)
		nulls = c.n - bitutil.CountSetBits(c.valid, 0, c.n)
	}
	fixed := arrowmemory.NewBufferBytes(c.fixed)
	switch {
	case c.numbered:
		t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.typ}
		return array.NewDataWithDictionary(t, c.n, []*arrowmemory.Buffer{valid, fixed}, nulls, 0, c.dictionary.data())
	case c.form == texts:
		return array.NewData(c.typ, c.n, []*arrowmemory.Buffer{valid, fixed, arrowmemory.NewBufferBytes(c.texts)}, nil, nulls, 0)
	case c.form == structs:
		children := c.childData()
		return array.NewData(c.typeOf(children), c.n, []*arrowmemory.Buffer{valid}, children, nulls, 0)
	default:
		children := c.childData()
		return array.NewData(c.typeOf(children), c.n, []*arrowmemory.Buffer{valid, fixed}, children, nulls, 0)
	}
}

func (c *column) childData() []arrow.ArrayData {
	var children []arrow.ArrayData
	for _, child := range c.children {
		children = append(children, child.data())
	}
	return children
}

// typeOf is the type of an array with such children.
func (c *column) typeOf(children []arrow.ArrayData) arrow.DataType {
	switch t := c.typ.(type) {
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i].Type = children[i].DataType()
		}
		return arrow.StructOf(fields...)
	case *arrow.MapType:
		entry := children[0].DataType().(*arrow.StructType)
		m := arrow.MapOf(entry.Field(0).Type, entry.Field(1).Type)
		m.SetItemNullable(t.ItemField().Nullable)
		return m
	case *arrow.ListType:
		item := t.ElemField()
		item.Type = children[0].DataType()
		return arrow.ListOfField(item)
	default:
		return t
	}
}

// viewRows are the rows of a record with their keys.
func (s *shape) viewRows(keys []uint64, record arrow.Record) (*column, error) {
	rows := &column{shape: s, n: len(keys), children: []*column{{shape: s.children[0], n: len(keys), fixed: bytesOf(keys)}}}
	for i, values := range record.Columns() {
		c, err := s.children[1+i].view(values.Data())
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", record.ColumnName(i), err)
		}
		rows.children = append(rows.children, c)
	}
	return rows, nil
}

// record are rows without their keys, in the memory of the column.
func (c *column) record() arrow.Record {
	var columns []arrow.Array
	fields := c.typ.(*arrow.StructType).Fields()
	for i, child := range c.children[1:] {
		values := array.MakeFromData(child.data())
		fields[i].Type = values.DataType()
		columns = append(columns, values)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(c.n))
}
