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

// numbers are those of the page, and the dictionary of the row group.
type numbers[T number] struct {
	take   taker[T]
	values []T
	numberDictionary[T]
}

func newNumbers[T number](take taker[T]) numbers[T] {
	return numbers[T]{take: take, numberDictionary: newNumberDictionary[T]()}
}

func (v *numbers[T]) size() int64 { return int64(len(plain(v.values))) }

// encodePlain encodes the page's values PLAIN, unless a dictionary brings more than a codec does: most make numbers about half as long.
func (v *numbers[T]) encodePlain(work *pageWork) (body []byte, encoding format.Encoding, err error) {
	body = plain(v.values)
	if v.numberDictionary.encode(work, v.values, func() int { return len(body) / 2 }) {
		return work.body, format.RLEDictionary, nil
	}
	return work.append(body), format.Plain, nil
}

// ints are whatever is stored as an integer of its own order.
type ints[T int32 | int64] struct {
	numbers[T]
	pack     func(b []byte, values []T) ([]byte, error) // nil: PLAIN
	packed   []byte
	low, top [1]T // what limits points to
	spans[intBounds, *intBounds]
}

func newInts[T int32 | int64](t *schema.Type, l *layout, take taker[T], pack func([]byte, []T) ([]byte, error)) *ints[T] {
	v := &ints[T]{numbers: newNumbers(take)}
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

func (v *ints[T]) endPage() {
	v.spans.endPage()
	v.values = v.values[:0]
}

func (v *ints[T]) endGroup() {
	v.spans.endGroup()
	v.numberDictionary.endGroup()
}

func (v *ints[T]) endFile() {
	v.spans.endFile()
	v.numberDictionary.endFile()
}

// floats have no limits where there is a NaN: readers do not agree on its place.
type floats[T float32 | float64] struct {
	numbers[T]
	low, top [1]T
	spans[floatBounds, *floatBounds]
}

func newFloats[T float32 | float64](take taker[T]) *floats[T] {
	v := &floats[T]{numbers: newNumbers(take)}
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

func (v *floats[T]) endPage() {
	v.spans.endPage()
	v.values = v.values[:0]
}

func (v *floats[T]) endGroup() {
	v.spans.endGroup()
	v.numberDictionary.endGroup()
}

func (v *floats[T]) endFile() {
	v.spans.endFile()
	v.numberDictionary.endFile()
}
