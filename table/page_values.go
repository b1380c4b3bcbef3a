package table

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
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

// indexed are values that may be in a dictionary, one for each row group.
type indexed interface {
	// dictionary are the values that the row group's pages refer to, encoded PLAIN, and how many; none if no page refers to any.
	dictionary() (plain []byte, n int)
	// memory is what is held beside the page's values, in bytes.
	memory() int64
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
