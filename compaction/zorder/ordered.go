package zorder

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// mostOrdered is how many bytes of a text count for its place: enough for what texts begin with in common.
const mostOrdered = 64

// appendOrdered appends a value so that the bytes of two values of one type compare as the values do: null is a zero, all
// others begin with a one.
func appendOrdered(b []byte, a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return append(b, 0)
	}
	b = append(b, 1)
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(b, 1)
		}
		return append(b, 0)
	case *array.Int8:
		return appendInt(b, int64(a.Value(i)))
	case *array.Int16:
		return appendInt(b, int64(a.Value(i)))
	case *array.Int32:
		return appendInt(b, int64(a.Value(i)))
	case *array.Int64:
		return appendInt(b, a.Value(i))
	case *array.Date32:
		return appendInt(b, int64(a.Value(i)))
	case *array.Timestamp:
		return appendInt(b, int64(a.Value(i)))
	case *array.Float32:
		return appendFloat(b, float64(a.Value(i)))
	case *array.Float64:
		return appendFloat(b, a.Value(i))
	case *array.Decimal128:
		n := a.Value(i)
		return binary.BigEndian.AppendUint64(appendInt(b, n.HighBits()), n.LowBits())
	case *array.String:
		text := a.Value(i)
		return append(b, text[:min(len(text), mostOrdered)]...)
	case *array.Binary:
		bytes := a.Value(i)
		return append(b, bytes[:min(len(bytes), mostOrdered)]...)
	default:
		return b // NewColumns lets no other type through
	}
}

func appendInt(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n)^1<<63)
}

// appendFloat has NaN behind all others, and both zeros in one place.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case f != f:
		return binary.BigEndian.AppendUint64(b, math.MaxUint64)
	case f == 0:
		f = 0
	}
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(b, bits)
}
