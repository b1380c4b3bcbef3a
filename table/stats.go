package table

import (
	"bytes"
	"cmp"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/sluicedata/sluice/schema"
)

// stats gathers a file's statistics from the Arrow columns on their way into it (PROTOCOL.md, "Per-file Statistics"). They
// are exact or absent.
type stats struct {
	rows    int64
	columns []*columnStats
	prefix  int
}

// columnStats are those of one column: a struct's fields, or a leaf's bounds.
type columnStats struct {
	column   *column
	at       int // position among its siblings
	children []*columnStats
	nulls    int64
	bounds   bounds // nil for types that have none
}

func newStats(columns []*column, choice statsChoice) *stats {
	return &stats{columns: newColumnStats(columns, choice.chosen(columns), choice.prefix), prefix: choice.prefix}
}

func newColumnStats(columns []*column, chosen map[string]struct{}, prefix int) []*columnStats {
	var all []*columnStats
	for i, c := range columns {
		s := &columnStats{column: c, at: i}
		if c.typ.Kind == schema.Struct {
			if s.children = newColumnStats(c.children, chosen, prefix); len(s.children) > 0 {
				all = append(all, s)
			}
			continue
		}
		if _, ok := chosen[c.path]; ok {
			s.bounds = newBounds(c.typ, prefix)
			all = append(all, s)
		}
	}
	return all
}

// observe takes in rows of a record.
func (s *stats) observe(columns []*bound, rows []int32) {
	s.rows += int64(len(rows))
	for _, c := range s.columns {
		c.observe(columns[c.at], rows)
	}
}

// observe takes in the rows; those in which a struct around is null are left out, and have been counted by it.
func (s *columnStats) observe(b *bound, rows []int32) {
	present := rows
	if b.values == nil {
		present = nil
	} else if b.values.NullN() > 0 {
		present = make([]int32, 0, len(rows))
		for _, row := range rows {
			if b.values.IsValid(int(row)) {
				present = append(present, row)
			}
		}
	}
	s.countNulls(int64(len(rows) - len(present)))
	if len(present) == 0 {
		return
	}
	if s.bounds != nil {
		s.bounds.observe(b.values, present)
	}
	for _, c := range s.children {
		c.observe(b.children[c.at], present)
	}
}

// countNulls counts for the column and for all inside it.
func (s *columnStats) countNulls(n int64) {
	s.nulls += n
	for _, c := range s.children {
		c.countNulls(n)
	}
}

// bounds are the least and the greatest value of a column.
type bounds interface {
	// observe takes in values, by index, none of them null.
	observe(values arrow.Array, rows []int32)
	// low and high append the bound as JSON, and say whether there is one that can be told.
	low(b []byte, prefix int) ([]byte, bool)
	high(b []byte, prefix int) ([]byte, bool)
}

func newBounds(t *schema.Type, prefix int) bounds {
	switch t.Kind {
	case schema.Byte, schema.Short, schema.Integer, schema.Long:
		return &intBounds{format: appendInt}
	case schema.Date:
		return &intBounds{format: appendDateJSON}
	case schema.Timestamp:
		return &intBounds{format: appendTimestampJSON, timestamps: true}
	case schema.TimestampNTZ:
		return &intBounds{format: appendTimestampNTZJSON, timestamps: true}
	case schema.Float, schema.Double:
		return &floatBounds{min: math.Inf(1), max: math.Inf(-1)}
	case schema.Decimal:
		return &decimalBounds{scale: t.Scale}
	case schema.String:
		return &stringBounds{prefix: prefix}
	default:
		return nil
	}
}

// intBounds are those of whatever is stored as an integer.
type intBounds struct {
	min, max   int64
	seen       bool
	timestamps bool // in microseconds; told in milliseconds, rounded outwards
	format     func(b []byte, v int64) ([]byte, bool)
}

func (s *intBounds) observe(values arrow.Array, rows []int32) {
	if !s.seen {
		s.min, s.max, s.seen = math.MaxInt64, math.MinInt64, true
	}
	switch a := values.(type) {
	case *array.Int8:
		observeInts(s, a.Int8Values(), rows)
	case *array.Int16:
		observeInts(s, a.Int16Values(), rows)
	case *array.Int32:
		observeInts(s, a.Int32Values(), rows)
	case *array.Int64:
		observeInts(s, a.Int64Values(), rows)
	case *array.Date32:
		observeInts(s, a.Date32Values(), rows)
	case *array.Timestamp:
		observeInts(s, a.TimestampValues(), rows)
	}
}

func observeInts[T ~int8 | ~int16 | ~int32 | ~int64](s *intBounds, values []T, rows []int32) {
	low, high := s.min, s.max
	for _, row := range rows {
		v := int64(values[row])
		low, high = min(low, v), max(high, v)
	}
	s.min, s.max = low, high
}

func (s *intBounds) low(b []byte, _ int) ([]byte, bool) {
	if !s.seen {
		return b, false
	}
	if s.timestamps {
		return s.format(b, floorDiv(s.min, 1000))
	}
	return s.format(b, s.min)
}

func (s *intBounds) high(b []byte, _ int) ([]byte, bool) {
	if !s.seen {
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
	min, max float64
	nan      bool
}

func (s *floatBounds) observe(values arrow.Array, rows []int32) {
	switch a := values.(type) {
	case *array.Float32:
		v := a.Float32Values()
		for _, row := range rows {
			s.take(float64(v[row]))
		}
	case *array.Float64:
		v := a.Float64Values()
		for _, row := range rows {
			s.take(v[row])
		}
	}
}

func (s *floatBounds) take(v float64) {
	switch {
	case v != v:
		s.nan = true
	default:
		s.min, s.max = min(s.min, v), max(s.max, v)
	}
}

func (s *floatBounds) low(b []byte, _ int) ([]byte, bool) {
	if math.IsInf(s.min, 0) {
		return b, false
	}
	if s.min == 0 {
		return append(b, "-0.0"...), true // both zeros are equal, and some readers order them
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
	seen     bool
}

func (s *decimalBounds) observe(values arrow.Array, rows []int32) {
	a, ok := values.(*array.Decimal128)
	if !ok {
		return
	}
	for _, row := range rows {
		v := a.Value(int(row))
		if !s.seen {
			s.min, s.max, s.seen = v, v, true
			continue
		}
		if v.Less(s.min) {
			s.min = v
		}
		if s.max.Less(v) {
			s.max = v
		}
	}
}

func (s *decimalBounds) low(b []byte, _ int) ([]byte, bool) {
	return appendDecimal(b, s.min, s.scale), s.seen
}

func (s *decimalBounds) high(b []byte, _ int) ([]byte, bool) {
	return appendDecimal(b, s.max, s.scale), s.seen
}

// stringBounds are in the order of the UTF-8 bytes.
type stringBounds struct {
	prefix   int    // UTF-16 units
	min, max []byte // beginnings
	seen     bool
}

func (s *stringBounds) observe(values arrow.Array, rows []int32) {
	a, ok := values.(*array.String)
	if !ok {
		return
	}
	low, high := s.min, s.max
	if !s.seen {
		low = stringBytes(a, int(rows[0]))
		high, s.seen = low, true
	}
	for _, row := range rows {
		v := stringBytes(a, int(row))
		if compareBytes(v, low) < 0 {
			low = v
		} else if compareBytes(v, high) > 0 {
			high = v
		}
	}
	s.min = append(s.min[:0], beginning(low, s.prefix)...) // the record's memory is not ours to keep
	s.max = append(s.max[:0], beginning(high, s.prefix)...)
}

func compareBytes(a, b []byte) int {
	if len(a) > 0 && len(b) > 0 && a[0] != b[0] {
		return cmp.Compare(a[0], b[0])
	}
	return bytes.Compare(a, b)
}

func (s *stringBounds) low(b []byte, prefix int) ([]byte, bool) {
	text, ok := minPrefix(s.min, prefix)
	if !s.seen || !ok {
		return b, false
	}
	return appendJSONString(b, text), true
}

func (s *stringBounds) high(b []byte, prefix int) ([]byte, bool) {
	text, ok := maxPrefix(s.max, prefix)
	if !s.seen || !ok {
		return b, false
	}
	return appendJSONString(b, text), true
}
