package json

import "bytes"

// seen is a set of what values of one place have been.
type seen uint8

const (
	sawBoolean seen = 1 << iota
	sawLong
	sawDouble
	sawText
	sawObject
	sawArray
	sawHuge // a number that neither a long nor a double holds
)

// maxFields bounds the fields of one object that inference tells apart.
const maxFields = 1000

// shape is what has been seen of the values at one place of the records, nulls aside.
type shape struct {
	seen         seen
	inexact      bool // a long that is no double
	notTimestamp bool // a text that is none
	notDate      bool

	fields    []shapeField // in the order in which they were first seen
	byName    map[string]*shape
	unlisted  bool     // there are more fields
	elem      *shape   // of all elements
	positions []*shape // of elements by index, for records that are arrays
}

type shapeField struct {
	name  string
	shape *shape
}

// field returns the shape of a field, or nil when there are too many.
func (s *shape) field(name []byte) *shape {
	if f := s.byName[string(name)]; f != nil {
		return f
	}
	if len(s.fields) == maxFields {
		s.unlisted = true
		return nil
	}
	if s.byName == nil {
		s.byName = map[string]*shape{}
	}
	f := &shape{}
	s.fields = append(s.fields, shapeField{name: string(name), shape: f})
	s.byName[string(name)] = f
	return f
}

// position returns the shape of an element of records that are arrays, or nil when there are too many.
func (s *shape) position(i int) *shape {
	for len(s.positions) <= i {
		if len(s.positions) == maxFields {
			s.unlisted = true
			return nil
		}
		s.positions = append(s.positions, &shape{})
	}
	return s.positions[i]
}

// observe adds the value at p, which is known to be well-formed, to the shape, and returns its end.
func (in *Inferrer) observe(s *shape, p int) int {
	if s == nil {
		return in.skip(p)
	}
	switch c := in.buf[p]; c {
	case 'n':
	case 't', 'f':
		s.seen |= sawBoolean
	case '"':
		return in.observeText(s, p)
	case '{':
		return in.observeObject(s, p)
	case '[':
		return in.observeArray(s, p)
	default:
		return in.observeNumber(s, p)
	}
	return in.skip(p)
}

func (in *Inferrer) observeNumber(s *shape, p int) int {
	q := in.number(p)
	text := in.buf[p:q]
	if bytes.ContainsAny(text, ".eE") {
		if _, ok := double(text); !ok {
			s.seen |= sawHuge
			return q
		}
		s.seen |= sawDouble
		return q
	}
	v, f := split(text).integer()
	if f != exact {
		s.seen |= sawHuge
		return q
	}
	s.seen |= sawLong
	s.inexact = s.inexact || !isDouble(v)
	return q
}

// isDouble says whether a double holds v exactly.
func isDouble(v int64) bool {
	const limit = 1 << 53
	if v >= -limit && v <= limit {
		return true
	}
	f := float64(v)
	return f < 1<<63 && int64(f) == v
}

func (in *Inferrer) observeText(s *shape, p int) int {
	s.seen |= sawText
	if s.notTimestamp && s.notDate {
		return in.skipString(p)
	}
	text, q := in.str(p)
	if _, reason := in.calendar.instant(text); reason != "" {
		s.notTimestamp = true
	}
	s.notDate = s.notDate || in.calendar.day(text) == noDay
	return q
}

func (in *Inferrer) observeObject(s *shape, p int) int {
	s.seen |= sawObject
	p = in.space(p + 1)
	if in.buf[p] == '}' {
		return p + 1
	}
	for {
		name, q := in.str(p)
		p = in.space(in.observe(s.field(name), in.colon(q)))
		if in.buf[p] == '}' {
			return p + 1
		}
		p = in.space(p + 1)
	}
}

func (in *Inferrer) observeArray(s *shape, p int) int {
	s.seen |= sawArray
	byPosition := s == &in.arrays
	if s.elem == nil {
		s.elem = &shape{}
	}
	p = in.space(p + 1)
	if in.buf[p] == ']' {
		return p + 1
	}
	for i := 0; ; i++ {
		elem := s.elem
		if byPosition {
			elem = s.position(i)
		}
		p = in.space(in.observe(elem, p))
		if in.buf[p] == ']' {
			return p + 1
		}
		p = in.space(p + 1)
	}
}
