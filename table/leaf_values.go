package table

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/sluicedata/sluice/schema"
)

// leafValues are values of one leaf, nulls left out, as the buffers of an Arrow array have them. Booleans take a byte each until the array
// is made.
type leafValues struct {
	typ   *schema.Type
	width int // bytes of a value; 0: texts
	n     int

	fixed   []byte  // unless they are texts
	offsets []int32 // of texts: where each ends
	texts   []byte
	indexed arrow.Array // what fixed refers to, in four bytes each, when texts are kept in a dictionary
}

func newLeafValues(t *schema.Type) leafValues { return leafValues{typ: t, width: arrowWidth(t.Kind)} }

// arrowWidth is the number of bytes that a value takes in an Arrow array, 0 for texts.
func arrowWidth(k schema.Kind) int {
	switch k {
	case schema.Boolean, schema.Byte:
		return 1
	case schema.Short:
		return 2
	case schema.Integer, schema.Float, schema.Date:
		return 4
	case schema.Decimal:
		return 16
	case schema.String, schema.Binary:
		return 0
	default:
		return 8
	}
}

// begin makes room for about so many values, and leaves those before to the array that has been made of them.
func (v *leafValues) begin(n int) {
	v.fixed = make([]byte, 0, n*v.width)
	if v.width == 0 {
		v.offsets, v.texts = make([]int32, 0, n), make([]byte, 0, len(v.texts))
	}
	v.n, v.indexed = 0, nil
}

// appendNumbers appends numbers as they lie in memory.
func appendNumbers[T int8 | int16 | int32 | int64 | float32 | float64](v *leafValues, values []T) {
	var one T
	v.fixed = append(v.fixed, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(one)))...)
	v.n += len(values)
}

// grow makes room for n more numbers, which the caller fills.
func grow[T int8 | int16 | int32 | int64 | float64 | [2]uint64](v *leafValues, n int) []T {
	at := len(v.fixed)
	bytes := n * v.width
	v.fixed = slices.Grow(v.fixed, bytes)[:at+bytes]
	v.n += n
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(v.fixed[at:]))), n)
}

// appendText appends a text.
func (v *leafValues) appendText(text []byte) error {
	if len(text) > math.MaxInt32-len(v.texts) {
		return errLongTexts
	}
	v.texts = append(v.texts, text...)
	v.offsets = append(v.offsets, int32(len(v.texts)))
	v.n++
	return nil
}

var errLongTexts = fmt.Errorf("%d rows of it have more than 2 GiB", stepRows)

// appendTexts appends the texts of a page from one to before another.
func (v *leafValues) appendTexts(page encoding.Values, from, to int) error {
	bytes, offsets := page.ByteArray()
	if from == to {
		return nil
	}
	first, last := offsets[from], offsets[to]
	if int64(last)-int64(first) > math.MaxInt32-int64(len(v.texts)) {
		return errLongTexts
	}
	shift := int32(len(v.texts)) - int32(first)
	v.texts = append(v.texts, bytes[first:last]...)
	v.offsets = slices.Grow(v.offsets, to-from)
	before := first
	for _, end := range offsets[from+1 : to+1] {
		if end < before {
			return errDamaged
		}
		before = end
		v.offsets = append(v.offsets, int32(end)+shift)
	}
	v.n += to - from
	return nil
}

// pick appends the values of others, which are not in a dictionary, at indexes.
func (v *leafValues) pick(others *leafValues, indexes []int32) error {
	switch v.width {
	case 0:
		return v.pickTexts(others, indexes)
	case 4:
		pickNumbers[int32](v, others, indexes)
	case 8:
		pickNumbers[int64](v, others, indexes)
	default:
		for _, i := range indexes {
			v.fixed = append(v.fixed, others.fixed[int(i)*v.width:][:v.width]...)
		}
		v.n += len(indexes)
	}
	return nil
}

// pickTexts copies texts that are one behind the other at once: so they are in a dictionary of texts that are all different.
func (v *leafValues) pickTexts(others *leafValues, indexes []int32) error {
	for len(indexes) > 0 {
		first := indexes[0]
		n := 1
		for n < len(indexes) && indexes[n] == first+int32(n) {
			n++
		}
		start, end := others.start(first), others.offsets[int(first)+n-1]
		if int(end-start) > math.MaxInt32-len(v.texts) {
			return errLongTexts
		}
		shift := int32(len(v.texts)) - start
		v.texts = append(v.texts, others.texts[start:end]...)
		for _, end := range others.offsets[first:][:n] {
			v.offsets = append(v.offsets, end+shift)
		}
		indexes = indexes[n:]
	}
	v.n = len(v.offsets)
	return nil
}

func pickNumbers[T int32 | int64](v, others *leafValues, indexes []int32) {
	from := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(others.fixed))), others.n)
	to := grow[T](v, len(indexes))
	for n, i := range indexes {
		to[n] = from[i]
	}
}

// start is where a text starts.
func (v *leafValues) start(i int32) int32 {
	if i == 0 {
		return 0
	}
	return v.offsets[i-1]
}

// bytes is what the texts take, or would without a dictionary.
func (v *leafValues) bytes() int64 {
	if v.indexed == nil {
		return int64(len(v.texts))
	}
	return int64(v.n) * dataBytes(v.indexed.Data()) / int64(max(v.indexed.Len(), 1))
}

// array is the values at slots, where a value is that has its bit set, and all slots have one if there are no bits.
func (v *leafValues) array(slots int, valid []byte) arrow.ArrayData {
	nulls := slots - v.n
	if v.indexed != nil {
		t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: v.typ.ArrowType()}
		return array.NewDataWithDictionary(t, slots, buffers(valid, spread(v.fixed, 4, slots, valid)), nulls, 0, v.indexed.Data().(*array.Data))
	}
	switch {
	case v.width == 0:
		return array.NewData(v.typ.ArrowType(), slots, buffers(valid, arrow.Int32Traits.CastToBytes(v.starts(slots, valid)), v.texts), nil, nulls, 0)
	case v.typ.Kind == schema.Boolean:
		return array.NewData(v.typ.ArrowType(), slots, buffers(valid, bitsOf(spread(v.fixed, 1, slots, valid))), nil, nulls, 0)
	default:
		return array.NewData(v.typ.ArrowType(), slots, buffers(valid, spread(v.fixed, v.width, slots, valid)), nil, nulls, 0)
	}
}

// buffers are those of an array: the first says which slots have values, nil if all have.
func buffers(of ...[]byte) []*memory.Buffer {
	all := make([]*memory.Buffer, len(of))
	for i, b := range of {
		if i > 0 || b != nil {
			all[i] = memory.NewBufferBytes(b)
		}
	}
	return all
}

// starts is where the text of each slot starts, and behind it where the last ends.
func (v *leafValues) starts(slots int, valid []byte) []int32 {
	starts := make([]int32, slots+1)
	if valid == nil {
		copy(starts[1:], v.offsets)
		return starts
	}
	end, next := int32(0), 0
	for i := range slots {
		if valid[i/8]>>(i%8)&1 == 1 {
			end = v.offsets[next]
			next++
		}
		starts[i+1] = end
	}
	return starts
}

// spread moves values of so many bytes to their slots.
func spread(values []byte, width, slots int, valid []byte) []byte {
	if valid == nil {
		return values
	}
	switch width {
	case 4:
		return spreadNumbers[int32](values, slots, valid)
	case 8:
		return spreadNumbers[int64](values, slots, valid)
	}
	spread := make([]byte, slots*width)
	for i := range slots {
		if valid[i/8]>>(i%8)&1 == 1 {
			copy(spread[i*width:], values[:width])
			values = values[width:]
		}
	}
	return spread
}

func spreadNumbers[T int32 | int64](values []byte, slots int, valid []byte) []byte {
	var one T
	width := int(unsafe.Sizeof(one))
	bytes := make([]byte, slots*width)
	from := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values))), len(values)/width)
	to := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), slots)
	for i := range to {
		if valid[i/8]>>(i%8)&1 == 1 {
			to[i] = from[0]
			from = from[1:]
		}
	}
	return bytes
}

// bitsOf packs bytes that are 0 or 1.
func bitsOf(bytes []byte) []byte {
	bits := make([]byte, (len(bytes)+7)/8)
	for i, b := range bytes {
		bits[i/8] |= b << (i % 8)
	}
	return bits
}
