package table

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

// pageValues are the values of one leaf on their way into its pages, nulls left out, in the form from which they are
// encoded soonest. They know the bounds of the page that is being filled, of the row group and of the file. Not safe for
// concurrent use.
type pageValues interface {
	// add takes in values of an Arrow array of the leaf's type: at is ascending, not empty, and none of them is null.
	add(values arrow.Array, at []int32)
	// size is about what the page takes before compression, in bytes.
	size() int64
	// encode returns the page's levels, which are in work.body, with the values behind them in the encoding that it names. They are in
	// work.body or in memory of its own, and valid until endPage.
	encode(work *pageWork) (body []byte, encoding format.Encoding, err error)
	// page and group are the limits of the page and of the row group's ended pages. They are valid until the next call.
	page() limits
	group() limits
	// file are the bounds of the file's ended row groups; nil for types that have none.
	file() bounds
	// endPage, endGroup and endFile forget the values and bounds, after those of the page have become the group's, and those
	// of the group the file's.
	endPage()
	endGroup()
	endFile()
}

// limits are a least and a greatest value in Parquet's PLAIN encoding, or values that are outside of these.
type limits struct {
	low, high []byte
	ok        bool // false: there are none on whose order all readers agree
}

// newPageValues returns the values of a leaf whose pages have about so many bytes.
func newPageValues(t *schema.Type, l *layout, pageBytes int64) pageValues {
	switch t.Kind {
	case schema.Boolean:
		return &booleans{}
	case schema.Byte:
		return newInts(t, l, widen(func(a arrow.Array) []int8 { return a.(*array.Int8).Int8Values() }), delta32)
	case schema.Short:
		return newInts(t, l, widen(func(a arrow.Array) []int16 { return a.(*array.Int16).Int16Values() }), delta32)
	case schema.Integer:
		return newInts(t, l, same(func(a arrow.Array) []int32 { return a.(*array.Int32).Int32Values() }), delta32)
	case schema.Date:
		return newInts(t, l, same(func(a arrow.Array) []int32 { return recast[int32](a.(*array.Date32).Date32Values()) }), delta32)
	case schema.Long:
		return newInts(t, l, same(func(a arrow.Array) []int64 { return a.(*array.Int64).Int64Values() }), delta64)
	case schema.Timestamp, schema.TimestampNTZ:
		return newInts(t, l, same(func(a arrow.Array) []int64 { return recast[int64](a.(*array.Timestamp).TimestampValues()) }), delta64)
	case schema.Float:
		return newFloats(same(func(a arrow.Array) []float32 { return a.(*array.Float32).Float32Values() }))
	case schema.Double:
		return newFloats(same(func(a arrow.Array) []float64 { return a.(*array.Float64).Float64Values() }))
	case schema.Decimal:
		return newDecimals(t)
	default:
		return newTexts(t, l, pageBytes)
	}
}

// taker appends the numbers of an array at the indexes.
type taker[T any] func(to []T, a arrow.Array, at []int32) []T

// same takes from arrays that hold the numbers as they are stored.
func same[T any](values func(arrow.Array) []T) taker[T] {
	return func(to []T, a arrow.Array, at []int32) []T {
		from := values(a)
		if consecutive(at) {
			return append(to, from[at[0]:][:len(at)]...)
		}
		for _, i := range at {
			to = append(to, from[i])
		}
		return to
	}
}

// consecutive says whether indexes, which are ascending, leave none out.
func consecutive(at []int32) bool { return int(at[len(at)-1]-at[0]) == len(at)-1 }

// widen takes from arrays of smaller numbers.
func widen[S int8 | int16](values func(arrow.Array) []S) taker[int32] {
	return func(to []int32, a arrow.Array, at []int32) []int32 {
		from := values(a)
		for _, i := range at {
			to = append(to, int32(from[i]))
		}
		return to
	}
}

// recast returns the same numbers under another name of their type.
func recast[T, S ~int32 | ~int64](values []S) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// plain are numbers as they lie in memory: that is Parquet's PLAIN encoding on little-endian machines, to which Arrow's
// buffers are bound as well.
func plain[T int32 | int64 | float32 | float64](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// ints are whatever is stored as an integer of its own order.
type ints[T int32 | int64] struct {
	take     taker[T]
	pack     func(b []byte, values []T) ([]byte, error) // nil: PLAIN
	values   []T
	packed   []byte
	low, top [1]T // what limits points to
	spans[intBounds, *intBounds]
}

func newInts[T int32 | int64](t *schema.Type, l *layout, take taker[T], pack func([]byte, []T) ([]byte, error)) *ints[T] {
	v := &ints[T]{take: take}
	v.from(newIntBounds(t))
	if l.compact {
		v.pack = pack
	}
	return v
}

func delta32(b []byte, values []int32) ([]byte, error) {
	return (&delta.BinaryPackedEncoding{}).EncodeInt32(b, values)
}

func delta64(b []byte, values []int64) ([]byte, error) {
	return (&delta.BinaryPackedEncoding{}).EncodeInt64(b, values)
}

func (v *ints[T]) add(a arrow.Array, at []int32) {
	n := len(v.values)
	v.values = v.take(v.values, a, at)
	low, high := v.values[n], v.values[n]
	for _, x := range v.values[n:] {
		low, high = min(low, x), max(high, x)
	}
	v.ofPage.min, v.ofPage.max = min(v.ofPage.min, int64(low)), max(v.ofPage.max, int64(high))
}

func (v *ints[T]) size() int64 { return int64(len(plain(v.values))) }

func (v *ints[T]) encode(work *pageWork) (body []byte, encoding format.Encoding, err error) {
	if v.pack == nil {
		return work.append(plain(v.values)), format.Plain, nil
	}
	v.packed, err = v.pack(v.packed[:0], v.values)
	return work.append(v.packed), format.DeltaBinaryPacked, err
}

func (v *ints[T]) hash(f *bloomFilter) {
	for i := range v.values {
		f.add(plain(v.values[i : i+1]))
	}
}

func (v *ints[T]) limits(b *intBounds) limits {
	v.low[0], v.top[0] = T(b.min), T(b.max)
	return limits{plain(v.low[:]), plain(v.top[:]), b.seen()}
}

func (v *ints[T]) page() limits  { return v.limits(&v.ofPage) }
func (v *ints[T]) group() limits { return v.limits(&v.ofGroup) }

func (v *ints[T]) endPage() {
	v.spans.endPage()
	v.values = v.values[:0]
}

// floats have no limits where there is a NaN: readers do not agree on its place.
type floats[T float32 | float64] struct {
	take     taker[T]
	values   []T
	low, top [1]T
	spans[floatBounds, *floatBounds]
}

func newFloats[T float32 | float64](take taker[T]) *floats[T] {
	v := &floats[T]{take: take}
	v.from(newFloatBounds())
	return v
}

func (v *floats[T]) add(a arrow.Array, at []int32) {
	n := len(v.values)
	v.values = v.take(v.values, a, at)
	low, high := T(math.Inf(1)), T(math.Inf(-1))
	for _, x := range v.values[n:] { // the functions min and max are slower, because they look for signs of zeros and NaN
		if x < low {
			low = x
		}
		if x > high {
			high = x
		}
		if x != x {
			v.ofPage.nan = true
		}
	}
	v.ofPage.min, v.ofPage.max = min(v.ofPage.min, float64(low)), max(v.ofPage.max, float64(high))
}

func (v *floats[T]) size() int64 { return int64(len(plain(v.values))) }

func (v *floats[T]) encode(work *pageWork) ([]byte, format.Encoding, error) {
	return work.append(plain(v.values)), format.Plain, nil
}

func (v *floats[T]) limits(b *floatBounds) limits {
	low, top := b.zeros()
	v.low[0], v.top[0] = T(low), T(top)
	return limits{plain(v.low[:]), plain(v.top[:]), b.seen() && !b.nan}
}

func (v *floats[T]) page() limits  { return v.limits(&v.ofPage) }
func (v *floats[T]) group() limits { return v.limits(&v.ofGroup) }

func (v *floats[T]) endPage() {
	v.spans.endPage()
	v.values = v.values[:0]
}

// booleans are packed bit by bit. The table's log has no bounds of them.
type booleans struct {
	bits             []byte
	n                int
	ofPage, ofGroup  [2]bool // whether false, and true, was there
	lowByte, topByte [1]byte
}

func (v *booleans) add(a arrow.Array, at []int32) {
	data := a.Data()
	from, offset := data.Buffers()[1].Bytes(), data.Offset()
	for len(v.bits) < (v.n+len(at)+7)/8 {
		v.bits = append(v.bits, 0)
	}
	trues := 0
	if first := int(at[0]); consecutive(at) {
		bitutil.CopyBitmap(from, offset+first, len(at), v.bits, v.n)
		trues = bitutil.CountSetBits(from, offset+first, len(at))
	} else {
		for i, index := range at {
			bit, to := uint(offset)+uint(index), uint(v.n+i)
			x := from[bit/8] >> (bit % 8) & 1
			v.bits[to/8] |= x << (to % 8)
			trues += int(x)
		}
	}
	v.n += len(at)
	v.ofPage[0] = v.ofPage[0] || trues < len(at)
	v.ofPage[1] = v.ofPage[1] || trues > 0
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (v *booleans) size() int64 { return int64(len(v.bits)) }

func (v *booleans) encode(work *pageWork) ([]byte, format.Encoding, error) {
	return work.append(v.bits), format.Plain, nil
}

func (v *booleans) limits(of [2]bool) limits {
	v.lowByte[0], v.topByte[0] = byte(btoi(!of[0])), byte(btoi(of[1]))
	return limits{v.lowByte[:], v.topByte[:], of[0] || of[1]}
}

func (v *booleans) page() limits  { return v.limits(v.ofPage) }
func (v *booleans) group() limits { return v.limits(v.ofGroup) }
func (v *booleans) file() bounds  { return nil }

func (v *booleans) endPage() {
	v.ofGroup = [2]bool{v.ofGroup[0] || v.ofPage[0], v.ofGroup[1] || v.ofPage[1]}
	v.ofPage = [2]bool{}
	v.bits, v.n = v.bits[:0], 0
}

func (v *booleans) endGroup() { v.ofGroup = [2]bool{} }
func (v *booleans) endFile()  {}

// decimals are stored in 4, 8 or more bytes, as their precision wants.
type decimals struct {
	width    int
	plain    []byte
	low, top []byte
	spans[decimalBounds, *decimalBounds]
}

func newDecimals(t *schema.Type) *decimals {
	v := &decimals{}
	v.from(decimalBounds{scale: t.Scale})
	switch {
	case t.Precision <= 9:
		v.width = 4
	case t.Precision <= 18:
		v.width = 8
	default:
		v.width = schema.DecimalBytes(t.Precision)
	}
	return v
}

func (v *decimals) add(a arrow.Array, at []int32) {
	from := a.(*array.Decimal128)
	for _, i := range at {
		x := from.Value(int(i))
		v.plain = v.append(v.plain, x)
		v.ofPage.take(x)
	}
}

func (v *decimals) append(b []byte, x decimal128.Num) []byte {
	switch v.width {
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(x.LowBits()))
	case 8:
		return binary.LittleEndian.AppendUint64(b, x.LowBits())
	default:
		return appendBigEndian(b, x.HighBits(), x.LowBits(), v.width)
	}
}

func (v *decimals) size() int64 { return int64(len(v.plain)) }

func (v *decimals) encode(work *pageWork) ([]byte, format.Encoding, error) {
	return work.append(v.plain), format.Plain, nil
}

func (v *decimals) limits(b *decimalBounds) limits {
	v.low, v.top = v.append(v.low[:0], b.min), v.append(v.top[:0], b.max)
	return limits{v.low, v.top, b.some}
}

func (v *decimals) page() limits  { return v.limits(&v.ofPage) }
func (v *decimals) group() limits { return v.limits(&v.ofGroup) }

func (v *decimals) endPage() {
	v.spans.endPage()
	v.plain = v.plain[:0]
}
