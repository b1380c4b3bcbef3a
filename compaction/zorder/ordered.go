package zorder

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// mostOrdered is how many bytes of a text count for its place: enough for what texts begin with in common.
const mostOrdered = 64

// place is where a value is among others of its type.
type place struct {
	null   bool
	number uint64
	text   string // tells apart those with the same number
}

// compare orders as Spark does: null first, NaN last, both zeros the same, texts by their bytes.
func (p place) compare(q place) int {
	switch {
	case p.null || q.null:
		return btoi(q.null) - btoi(p.null)
	case p.number != q.number:
		return cmp.Compare(p.number, q.number)
	default:
		return cmp.Compare(p.text, q.text)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// places are those of the values of an array. Those of nulls mean nothing.
type places struct {
	numbers []uint64
	text    func(i int) []byte // nil: the numbers tell all
	indexes []int32            // which of the places a value has; nil: they are in order
}

// placesOf finds the places of an array's values.
func placesOf(a arrow.Array) places {
	switch a := a.(type) {
	case *array.Dictionary:
		p := placesOf(a.Dictionary())
		p.indexes = cast[int32](bufferOf(a.Data(), 1))[a.Data().Offset():][:a.Len()]
		return p
	case *array.Boolean:
		numbers := make([]uint64, a.Len())
		for i := range numbers {
			numbers[i] = uint64(btoi(a.Value(i)))
		}
		return places{numbers: numbers}
	case *array.Int8:
		return placesOfInts(a.Int8Values())
	case *array.Int16:
		return placesOfInts(a.Int16Values())
	case *array.Int32:
		return placesOfInts(a.Int32Values())
	case *array.Int64:
		return placesOfInts(a.Int64Values())
	case *array.Date32:
		return placesOfInts(a.Date32Values())
	case *array.Timestamp:
		return placesOfInts(a.TimestampValues())
	case *array.Float32:
		return placesOfFloats(a.Float32Values())
	case *array.Float64:
		return placesOfFloats(a.Float64Values())
	case *array.Decimal128:
		return placesOfTexts(a.Len(), func(i int) []byte {
			n := a.Value(i)
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(n.HighBits())^1<<63), n.LowBits())
		})
	case *array.String:
		return placesOfTexts(a.Len(), func(i int) []byte { return []byte(a.Value(i)) })
	case *array.Binary:
		return placesOfTexts(a.Len(), a.Value)
	default:
		return places{numbers: make([]uint64, a.Len())} // NewColumns lets no other type through
	}
}

func placesOfInts[T ~int8 | ~int16 | ~int32 | ~int64](values []T) places {
	numbers := make([]uint64, len(values))
	for i, v := range values {
		numbers[i] = uint64(int64(v)) ^ 1<<63
	}
	return places{numbers: numbers}
}

func placesOfFloats[T float32 | float64](values []T) places {
	numbers := make([]uint64, len(values))
	for i, v := range values {
		numbers[i] = ofFloat(float64(v))
	}
	return places{numbers: numbers}
}

// ofFloat has NaN behind all others, and both zeros in one place.
func ofFloat(f float64) uint64 {
	switch {
	case f != f:
		return math.MaxUint64
	case f == 0:
		f = 0
	}
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

// placesOfTexts takes the first eight bytes of texts as their numbers.
func placesOfTexts(n int, text func(i int) []byte) places {
	p := places{numbers: make([]uint64, n), text: text}
	for i := range p.numbers {
		var first [8]byte
		copy(first[:], text(i))
		p.numbers[i] = binary.BigEndian.Uint64(first[:])
	}
	return p
}

// at is the place of a value that is not null.
func (p *places) at(i int) place {
	if p.indexes != nil {
		i = int(p.indexes[i])
	}
	return place{number: p.numbers[i], text: p.textAt(i)}
}

// textAt is what tells apart the places with one number.
func (p *places) textAt(i int) string {
	if p.text == nil {
		return ""
	}
	text := p.text(i)
	return string(text[:min(len(text), mostOrdered)])
}
