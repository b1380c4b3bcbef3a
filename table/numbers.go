package table

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

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
func plain[T number](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// numbers are those of the page, the dictionary of the row group, and the bounds.
type numbers[T number, B any, P boundsOf[B]] struct {
	take     taker[T]
	values   []T
	low, top [1]T // what limits points to
	numberDictionary[T]
	spans[B, P]
}

func newNumbers[T number, B any, P boundsOf[B]](take taker[T], empty B) numbers[T, B, P] {
	v := numbers[T, B, P]{take: take, numberDictionary: newNumberDictionary[T]()}
	v.from(empty)
	return v
}

func (v *numbers[T, B, P]) size() int64 { return int64(len(plain(v.values))) }

// tell takes limits that a page tells of its numbers into low and top; false if they are none.
func (v *numbers[T, B, P]) tell(low, high []byte) bool {
	if len(low) != len(plain(v.low[:])) || len(high) != len(low) {
		return false
	}
	copy(plain(v.low[:]), low)
	copy(plain(v.top[:]), high)
	return true
}

// encodePlain encodes the page's values PLAIN, unless a dictionary brings more than a codec does: most make numbers about half as long.
func (v *numbers[T, B, P]) encodePlain(work *pageWork) (body []byte, encoding format.Encoding, err error) {
	body = plain(v.values)
	if v.numberDictionary.encode(work, v.values, func() int { return len(body) / 2 }) {
		return work.body, format.RLEDictionary, nil
	}
	return work.append(body), format.Plain, nil
}

func (v *numbers[T, B, P]) endPage() {
	v.spans.endPage()
	v.values = v.values[:0]
}

func (v *numbers[T, B, P]) endGroup() {
	v.spans.endGroup()
	v.numberDictionary.endGroup()
}

func (v *numbers[T, B, P]) endFile() {
	v.spans.endFile()
	v.numberDictionary.endFile()
}

// ints are whatever is stored as an integer of its own order.
type ints[T int32 | int64] struct {
	numbers[T, intBounds, *intBounds]
	pack   func(b []byte, values []T) ([]byte, error) // nil: PLAIN
	packed []byte
}

func newInts[T int32 | int64](t *schema.Type, l *layout, take taker[T], pack func([]byte, []T) ([]byte, error)) *ints[T] {
	v := &ints[T]{numbers: newNumbers[T, intBounds, *intBounds](take, newIntBounds(t))}
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

func (v *ints[T]) encode(work *pageWork) (body []byte, encoding format.Encoding, err error) {
	if v.pack == nil {
		return v.encodePlain(work)
	}
	v.packed = v.packed[:0]
	packed := func() int {
		if len(v.packed) == 0 {
			v.packed, err = v.pack(v.packed, v.values)
		}
		return len(v.packed)
	}
	if v.numberDictionary.encode(work, v.values, packed) && err == nil {
		return work.body, format.RLEDictionary, nil
	}
	packed()
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

// floats have no limits where there is a NaN: readers do not agree on its place.
type floats[T float32 | float64] struct {
	numbers[T, floatBounds, *floatBounds]
}

func newFloats[T float32 | float64](take taker[T]) *floats[T] {
	return &floats[T]{newNumbers[T, floatBounds, *floatBounds](take, newFloatBounds())}
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

func (v *floats[T]) encode(work *pageWork) ([]byte, format.Encoding, error) {
	return v.encodePlain(work)
}

func (v *floats[T]) limits(b *floatBounds) limits {
	low, top := b.zeros()
	v.low[0], v.top[0] = T(low), T(top)
	return limits{plain(v.low[:]), plain(v.top[:]), b.seen() && !b.nan}
}

func (v *floats[T]) page() limits  { return v.limits(&v.ofPage) }
func (v *floats[T]) group() limits { return v.limits(&v.ofGroup) }
