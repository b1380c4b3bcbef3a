package zorder

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// appendRow appends a record's row: its values one after the other. What they are the schema tells, and nothing in the bytes.
func appendRow(b []byte, columns []arrow.Array, row int) []byte {
	for _, c := range columns {
		b = appendValue(b, c, row)
	}
	return b
}

// appendValue appends a zero for null, else a one and the value: numbers with as many bytes as they have, texts and lists
// with their length in front, structs field by field.
func appendValue(b []byte, a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return append(b, 0)
	}
	b = append(b, 1)
	switch a := a.(type) {
	case *array.String:
		text := a.Value(i)
		return append(binary.AppendUvarint(b, uint64(len(text))), text...)
	case *array.Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(a.Value(i)))
	case *array.Timestamp:
		return binary.LittleEndian.AppendUint64(b, uint64(a.Value(i)))
	case *array.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(a.Value(i)))
	case *array.Int32:
		return binary.LittleEndian.AppendUint32(b, uint32(a.Value(i)))
	case *array.Date32:
		return binary.LittleEndian.AppendUint32(b, uint32(a.Value(i)))
	case *array.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(a.Value(i)))
	case *array.Int16:
		return binary.LittleEndian.AppendUint16(b, uint16(a.Value(i)))
	case *array.Int8:
		return append(b, byte(a.Value(i)))
	case *array.Boolean:
		if a.Value(i) {
			return append(b, 1)
		}
		return append(b, 0)
	case *array.Decimal128:
		n := a.Value(i)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, n.LowBits()), uint64(n.HighBits()))
	case *array.Binary:
		bytes := a.Value(i)
		return append(binary.AppendUvarint(b, uint64(len(bytes))), bytes...)
	case *array.Struct:
		for k := range a.NumField() {
			b = appendValue(b, a.Field(k), i)
		}
		return b
	case *array.Map:
		return appendItems(b, a.List, i, a.Keys(), a.Items())
	case *array.List:
		return appendItems(b, a, i, a.ListValues())
	default:
		return b // a table has no other
	}
}

// appendItems appends the items of a list, which are values of these arrays, one of each.
func appendItems(b []byte, list *array.List, i int, of ...arrow.Array) []byte {
	start, end := list.ValueOffsets(i)
	b = binary.AppendUvarint(b, uint64(end-start))
	for at := start; at < end; at++ {
		b = appendRow(b, of, int(at))
	}
	return b
}

// rowReader reads what appendRow has written.
type rowReader []byte

func (r *rowReader) take(n int) []byte {
	b := (*r)[:n:n]
	*r = (*r)[n:]
	return b
}

func (r *rowReader) length() int {
	n, size := binary.Uvarint(*r)
	*r = (*r)[size:]
	return int(n)
}

func (r *rowReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *rowReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

// row puts a row behind the others of the builders.
func (r *rowReader) row(builders []array.Builder) {
	for _, b := range builders {
		r.value(b)
	}
}

func (r *rowReader) value(b array.Builder) {
	if r.take(1)[0] == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.BinaryBuilder.Append(r.take(r.length()))
	case *array.Int64Builder:
		b.Append(int64(r.uint64()))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(r.uint64()))
	case *array.Float64Builder:
		b.Append(math.Float64frombits(r.uint64()))
	case *array.Int32Builder:
		b.Append(int32(r.uint32()))
	case *array.Date32Builder:
		b.Append(arrow.Date32(r.uint32()))
	case *array.Float32Builder:
		b.Append(math.Float32frombits(r.uint32()))
	case *array.Int16Builder:
		b.Append(int16(binary.LittleEndian.Uint16(r.take(2))))
	case *array.Int8Builder:
		b.Append(int8(r.take(1)[0]))
	case *array.BooleanBuilder:
		b.Append(r.take(1)[0] == 1)
	case *array.Decimal128Builder:
		low := r.uint64()
		b.Append(decimal128.New(int64(r.uint64()), low))
	case *array.BinaryBuilder:
		b.Append(r.take(r.length()))
	case *array.StructBuilder:
		b.Append(true)
		for k := range b.NumField() {
			r.value(b.FieldBuilder(k))
		}
	case *array.MapBuilder:
		b.Append(true)
		r.items(b.KeyBuilder(), b.ItemBuilder())
	case *array.ListBuilder:
		b.Append(true)
		r.items(b.ValueBuilder())
	}
}

func (r *rowReader) items(of ...array.Builder) {
	for range r.length() {
		r.row(of)
	}
}
