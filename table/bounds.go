package table

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/sluicedata/sluice/schema"
)

// bounds are the least and the greatest of some values of a leaf, for the table's log.
type bounds interface {
	// low and high append the bound as JSON, and say whether there is one that can be told.
	low(b []byte, prefix int) ([]byte, bool)
	high(b []byte, prefix int) ([]byte, bool)
}

// spans are the bounds of the page that is being filled, of the row group's ended pages, and of the file's ended row groups.
type spans[B any, P boundsOf[B]] struct {
	ofPage, ofGroup, ofFile B
}

// boundsOf are bounds that can begin anew, and take others in.
type boundsOf[B any] interface {
	*B
	bounds
	reset()
	merge(*B)
}

// from begins with bounds of no values.
func (s *spans[B, P]) from(empty B) { s.ofPage, s.ofGroup, s.ofFile = empty, empty, empty }

func (s *spans[B, P]) file() bounds { return P(&s.ofFile) }

func (s *spans[B, P]) endPage() {
	P(&s.ofGroup).merge(&s.ofPage)
	P(&s.ofPage).reset()
}

func (s *spans[B, P]) endGroup() {
	P(&s.ofFile).merge(&s.ofGroup)
	P(&s.ofGroup).reset()
}

func (s *spans[B, P]) endFile() { P(&s.ofFile).reset() }

// intBounds are those of whatever is stored as an integer.
type intBounds struct {
	min, max   int64 // min > max: no value yet
	timestamps bool  // in microseconds; told in milliseconds, rounded outwards
	format     func(b []byte, v int64) ([]byte, bool)
}

func newIntBounds(t *schema.Type) intBounds {
	b := intBounds{format: appendInt}
	switch t.Kind {
	case schema.Date:
		b.format = appendDateJSON
	case schema.Timestamp:
		b.format, b.timestamps = appendTimestampJSON, true
	case schema.TimestampNTZ:
		b.format, b.timestamps = appendTimestampNTZJSON, true
	}
	b.reset()
	return b
}

func (s *intBounds) reset()             { s.min, s.max = math.MaxInt64, math.MinInt64 }
func (s *intBounds) seen() bool         { return s.min <= s.max }
func (s *intBounds) merge(o *intBounds) { s.min, s.max = min(s.min, o.min), max(s.max, o.max) }

func (s *intBounds) low(b []byte, _ int) ([]byte, bool) {
	if !s.seen() {
		return b, false
	}
	if s.timestamps {
		return s.format(b, floorDiv(s.min, 1000))
	}
	return s.format(b, s.min)
}

func (s *intBounds) high(b []byte, _ int) ([]byte, bool) {
	if !s.seen() {
		return b, false
	}
	if s.timestamps {
		return s.format(b, ceilDiv(s.max, 1000))
	}
	return s.format(b, s.max)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

// floatBounds leave NaN out, and know that there was one: Spark takes it for the largest value, so there is no upper bound
// then. Infinities cannot be told in JSON.
type floatBounds struct {
	min, max float64 // min > max: no value yet
	nan      bool
}

func newFloatBounds() floatBounds {
	var b floatBounds
	b.reset()
	return b
}

func (s *floatBounds) reset()     { s.min, s.max, s.nan = math.Inf(1), math.Inf(-1), false }
func (s *floatBounds) seen() bool { return s.min <= s.max }

func (s *floatBounds) merge(o *floatBounds) {
	s.min, s.max, s.nan = min(s.min, o.min), max(s.max, o.max), s.nan || o.nan
}

// zeros are both bounds with a zero of the sign that is outside: both zeros are equal, and some readers order them.
func (s *floatBounds) zeros() (low, high float64) {
	low, high = s.min, s.max
	if low == 0 {
		low = math.Copysign(0, -1)
	}
	if high == 0 {
		high = 0
	}
	return low, high
}

func (s *floatBounds) low(b []byte, _ int) ([]byte, bool) {
	if math.IsInf(s.min, 0) {
		return b, false
	}
	if s.min == 0 {
		return append(b, "-0.0"...), true
	}
	return appendFloatJSON(b, s.min), true
}

func (s *floatBounds) high(b []byte, _ int) ([]byte, bool) {
	if s.nan || math.IsInf(s.max, 0) {
		return b, false
	}
	if s.max == 0 {
		return append(b, "0.0"...), true
	}
	return appendFloatJSON(b, s.max), true
}

type decimalBounds struct {
	min, max decimal128.Num
	scale    int
	some     bool
}

func (s *decimalBounds) reset() { s.some = false }

func (s *decimalBounds) take(v decimal128.Num) {
	switch {
	case !s.some:
		s.min, s.max, s.some = v, v, true
	case v.Less(s.min):
		s.min = v
	case s.max.Less(v):
		s.max = v
	}
}

func (s *decimalBounds) merge(o *decimalBounds) {
	if o.some {
		s.take(o.min)
		s.take(o.max)
	}
}

func (s *decimalBounds) low(b []byte, _ int) ([]byte, bool) {
	return appendDecimal(b, s.min, s.scale), s.some
}

func (s *decimalBounds) high(b []byte, _ int) ([]byte, bool) {
	return appendDecimal(b, s.max, s.scale), s.some
}

// stringBounds are in the order of the bytes. They hold the beginnings of texts, as much as bounds are made of.
type stringBounds struct {
	units          int // of the longest bound, in UTF-16 units
	min, max       []byte
	shared         int    // bytes with which both begin
	minKey, maxKey uint64 // of what is behind these
	some           bool
}

func (s *stringBounds) reset() { s.some = false }

// key is the first eight bytes of a value as a number of the same order. Where two are equal, the values may not be.
func key(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	k := uint64(0)
	for _, b := range v {
		k = k<<8 | uint64(b)
	}
	return k << (8 * (8 - len(v)))
}

// take takes in a value, which it copies if it has to. Most begin as both bounds do, and are between them soon after.
func (s *stringBounds) take(v []byte) {
	if s.some && len(v) >= s.shared && (s.shared == 0 || string(v[:s.shared]) == string(s.min[:s.shared])) { // of nothing it would be a call as well
		if k := key(v[s.shared:]); s.minKey < k && k < s.maxKey {
			return
		}
	}
	s.widen(v)
}

// widen takes in a value that may be outside.
func (s *stringBounds) widen(v []byte) {
	below, above := !s.some || bytes.Compare(v, s.min) < 0, !s.some || bytes.Compare(v, s.max) > 0
	if !below && !above {
		return
	}
	v = beginning(v, s.units)
	if below {
		s.min = append(s.min[:0], v...)
	}
	if above {
		s.max = append(s.max[:0], v...)
	}
	s.some = true
	for s.shared = 0; s.shared < min(len(s.min), len(s.max)) && s.min[s.shared] == s.max[s.shared]; s.shared++ {
	}
	s.minKey, s.maxKey = key(s.min[s.shared:]), key(s.max[s.shared:])
}

func (s *stringBounds) merge(o *stringBounds) {
	if o.some {
		s.take(o.min)
		s.take(o.max)
	}
}

func (s *stringBounds) low(b []byte, prefix int) ([]byte, bool) {
	text, ok := minPrefix(s.min, prefix)
	if !s.some || !ok {
		return b, false
	}
	return appendJSONString(b, text), true
}

func (s *stringBounds) high(b []byte, prefix int) ([]byte, bool) {
	text, ok := maxPrefix(s.max, prefix)
	if !s.some || !ok {
		return b, false
	}
	return appendJSONString(b, text), true
}
