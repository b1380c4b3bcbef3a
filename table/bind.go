package table

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// bound is a column over the Arrow array that a record has for it.
type bound struct {
	*column
	values   arrow.Array // nil when the record has no such column: all null
	get      func(i int) parquet.Value
	offsets  func(i int) (start, end int64)
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

func (c *column) bind(values arrow.Array) (*bound, error) {
	b := &bound{column: c, values: values}
	if values == nil {
		return b, nil
	}
	switch c.typ.Kind {
	case schema.Struct:
		return b, b.bindStruct()
	case schema.Array:
		list, ok := values.(*array.List)
		if !ok {
			return nil, c.mismatch(values)
		}
		b.offsets = list.ValueOffsets
		return b, b.bindChildren(list.ListValues())
	case schema.Map:
		m, ok := values.(*array.Map)
		if !ok {
			return nil, c.mismatch(values)
		}
		b.offsets = m.ValueOffsets
		return b, b.bindChildren(m.Keys(), m.Items())
	default:
		b.get = getter(c.typ, values)
		if b.get == nil {
			return nil, c.mismatch(values)
		}
		return b, nil
	}
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

// getter returns how to take a leaf's value that is not null, nil when the array is not of the type.
func getter(t *schema.Type, values arrow.Array) func(i int) parquet.Value {
	switch a := values.(type) {
	case *array.Boolean:
		return when(t.Kind == schema.Boolean, func(i int) parquet.Value { return parquet.BooleanValue(a.Value(i)) })
	case *array.Int8:
		return when(t.Kind == schema.Byte, func(i int) parquet.Value { return parquet.Int32Value(int32(a.Value(i))) })
	case *array.Int16:
		return when(t.Kind == schema.Short, func(i int) parquet.Value { return parquet.Int32Value(int32(a.Value(i))) })
	case *array.Int32:
		return when(t.Kind == schema.Integer, func(i int) parquet.Value { return parquet.Int32Value(a.Value(i)) })
	case *array.Int64:
		return when(t.Kind == schema.Long, func(i int) parquet.Value { return parquet.Int64Value(a.Value(i)) })
	case *array.Float32:
		return when(t.Kind == schema.Float, func(i int) parquet.Value { return parquet.FloatValue(a.Value(i)) })
	case *array.Float64:
		return when(t.Kind == schema.Double, func(i int) parquet.Value { return parquet.DoubleValue(a.Value(i)) })
	case *array.Date32:
		return when(t.Kind == schema.Date, func(i int) parquet.Value { return parquet.Int32Value(int32(a.Value(i))) })
	case *array.Timestamp:
		return when(t.Kind == schema.Timestamp || t.Kind == schema.TimestampNTZ,
			func(i int) parquet.Value { return parquet.Int64Value(int64(a.Value(i))) })
	case *array.String:
		return when(t.Kind == schema.String, func(i int) parquet.Value { return parquet.ByteArrayValue(stringBytes(a, i)) })
	case *array.Binary:
		return when(t.Kind == schema.Binary, func(i int) parquet.Value { return parquet.ByteArrayValue(a.Value(i)) })
	case *array.Decimal128:
		return when(t.Kind == schema.Decimal, decimalGetter(t, a))
	default:
		return nil
	}
}

func when(ok bool, get func(i int) parquet.Value) func(i int) parquet.Value {
	if !ok {
		return nil
	}
	return get
}

// stringBytes is the i-th string's bytes where they lie in the array.
func stringBytes(a *array.String, i int) []byte {
	// ValueBytes and ValueOffset both respect the array's own offset.
	base := a.ValueOffset(0)
	return a.ValueBytes()[a.ValueOffset(i)-base : a.ValueOffset(i+1)-base]
}

func decimalGetter(t *schema.Type, a *array.Decimal128) func(i int) parquet.Value {
	switch {
	case t.Precision <= 9:
		return func(i int) parquet.Value { return parquet.Int32Value(int32(a.Value(i).LowBits())) }
	case t.Precision <= 18:
		return func(i int) parquet.Value { return parquet.Int64Value(int64(a.Value(i).LowBits())) }
	default:
		n := decimalBytes(t.Precision)
		return func(i int) parquet.Value {
			v := a.Value(i)
			return parquet.FixedLenByteArrayValue(appendBigEndian(make([]byte, 0, n), v.HighBits(), v.LowBits(), n))
		}
	}
}

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
