package json

import (
	"bytes"
	"strconv"
)

// value gives the value at p to the node's takers.
func (d *Decoder) value(n *node, p int) int {
	depth, end := d.depth, p
	for i := range n.takers {
		t := &n.takers[i]
		d.depth = depth
		if end = t.take(d, t, p); end < 0 {
			d.blame(t)
			return end
		}
	}
	return end
}

// blame says which column it is that a value does not fit.
func (d *Decoder) blame(t *taker) {
	if t != nil && d.column == "" {
		d.column = t.column
	}
}

// several gives the value at p to all takers of a node.
func (d *Decoder) several(t *taker, p int) int { return d.value(t.several, p) }

// The bytes of the literals.
const (
	nullWord  = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
	trueWord  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	falseWord = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
)

// null reads a null for the taker.
func (d *Decoder) null(t *taker, p int) int {
	if uint32(word(d.buf, p)) != nullWord {
		return d.notLiteral(p, "null")
	}
	if t.col != nil && t.col.nullable {
		t.col.appendNull()
	} else if !d.absent(t, "null") {
		return -1
	}
	return p + 4
}

// absent gives a null, or the lack of a value, to the taker.
func (d *Decoder) absent(t *taker, what string) bool {
	switch {
	case t.op == enterObject:
		for _, f := range t.members.wanted {
			if !d.lacking(f, what) {
				return false
			}
		}
		return true
	case t.op == enterArray:
		for _, e := range t.elements {
			if !d.absentNode(e.node, what) {
				d.at(stepText(e.index))
				return false
			}
		}
		return true
	case !t.col.nullable:
		d.column = t.column
		d.misfit(what + ", and not nullable")
		return false
	default:
		t.col.appendNull()
		return true
	}
}

func (d *Decoder) absentNode(n *node, what string) bool {
	for i := range n.takers {
		if !d.absent(&n.takers[i], what) {
			return false
		}
	}
	return true
}

// lacking is absentNode for a field, which it names when that is bad.
func (d *Decoder) lacking(f *field, what string) bool {
	if d.absentNode(f.node, what) {
		return true
	}
	d.at(fieldPath("", f.name))
	return false
}

// misfit sets the reason of a record in which a value does not fit its column.
func (d *Decoder) misfit(reason string) int {
	d.reason, d.broken = reason, false
	return -1
}

// at puts a step in front of the path of the value that does not fit.
func (d *Decoder) at(step string) {
	if !d.broken {
		d.path = append(d.path, step)
	}
}

// object reads the object at p for its members. The column of a struct gets its value last.
func (d *Decoder) object(t *taker, p int) int {
	if byteAt(d.buf, p) != '{' {
		return d.unlike(t, p)
	}
	if !d.enter(p) {
		return -1
	}
	m := t.members
	m.visit++
	m.missing = len(m.wanted)
	for f := &m.first; ; {
		guess := &f.next[0]
		switch {
		case guess.begins(d.buf, p) && len(guess.raw) <= 16:
			f, p = guess.field, p+len(guess.raw)
		case len(guess.raw) > 16 && guess.right(d.buf, p):
			f, p = guess.field, p+len(guess.raw)
		case byteAt(d.buf, p) == '}':
			d.depth--
			return d.endObject(m, p+1)
		default:
			if f, p = d.name(m, f, p); f == nil {
				return d.endObject(m, p)
			}
		}
		if f.visit >= m.visit {
			p = d.unusualField(m, f, p)
		} else {
			f.visit = m.visit
			m.missing--
			p = f.taker.take(d, f.taker, p)
		}
		if p < 0 {
			return d.inField(f)
		}
	}
}

// endObject does what is left to do for an object that ends at p, or is no object if p is negative.
func (d *Decoder) endObject(m *members, p int) int {
	if p < 0 || m.missing > 0 && !d.missing(m) {
		return -1
	}
	if m.owner != nil {
		m.owner.n++
	}
	return p
}

// inField says where it is that a value does not fit.
func (d *Decoder) inField(f *field) int {
	d.blame(f.taker)
	d.at(fieldPath("", f.name))
	return -1
}

// missing gives their lack to the fields that the object did not have.
func (d *Decoder) missing(m *members) bool {
	for _, f := range m.wanted {
		if f.visit != m.visit && !d.lacking(f, "missing") {
			return false
		}
	}
	return true
}

// name reads what the first guess missed: all from the previous field, which ends at p, to the value of the next one. There is
// no field at the end of the object.
func (d *Decoder) name(m *members, previous *field, p int) (*field, int) {
	if guess := &previous.next[1]; guess.right(d.buf, p) {
		return guess.field, p + len(guess.raw)
	}
	from, more := p, false
	if previous == &m.first {
		p, more = d.first(p, '}')
	} else {
		p, more = d.next(p, '}')
	}
	if !more {
		return nil, p
	}
	if d.buf[p] != '"' {
		return nil, d.expected(p, "a field name")
	}
	text, p := d.str(p)
	if p < 0 {
		return nil, p
	}
	f := m.byName[string(text)]
	if f == nil {
		f = d.unknown.field(m, text)
	}
	if p = d.colon(p); p < 0 {
		return nil, p
	}
	previous.next[0], previous.next[1] = previous.next[1], previous.next[0]
	raw := d.buf[from:p]
	previous.next[0].learn(f, raw)
	d.spans = d.spans || bytes.ContainsAny(raw, "\r\n")
	return f, p
}

// unusualField reads the value at p of a field that nobody wants, which is counted, or of one that the object has had before.
func (d *Decoder) unusualField(m *members, f *field, p int) int {
	if f.taker != nil {
		f.node.cut(d.length(m))
		return f.taker.take(d, f.taker, p)
	}
	if f.count != nil {
		d.unknown.met = append(d.unknown.met, f.count)
	}
	return d.skip(p)
}

// length is the length that the columns of members had when their object began.
func (d *Decoder) length(m *members) int {
	if m.owner != nil {
		return m.owner.n
	}
	return d.rows
}

// array reads the array at p into a column.
func (d *Decoder) array(t *taker, p int) int {
	if d.buf[p] != '[' {
		return d.unlike(t, p)
	}
	p, more := d.open(p)
	elem := &t.elem.takers[0]
	for i := 0; more; i++ {
		if p = elem.take(d, elem, p); p < 0 {
			d.at(stepText(i))
			return p
		}
		if word(d.buf, p)&0xFFFF == ','|'"'<<8 { // as next finds it, too
			p++
			continue
		}
		p, more = d.next(p, ']')
	}
	if p >= 0 {
		t.col.closeList()
	}
	return p
}

// elements reads those elements of the array at p that paths lead into.
func (d *Decoder) elements(t *taker, p int) int {
	if d.buf[p] != '[' {
		return d.unlike(t, p)
	}
	p, more := d.open(p)
	wanted := t.elements
	for i := 0; more; i++ {
		if len(wanted) == 0 || wanted[0].index != i {
			p = d.skip(p)
		} else {
			p = d.value(wanted[0].node, p)
			wanted = wanted[1:]
		}
		if p < 0 {
			d.at(stepText(i))
			return p
		}
		p, more = d.next(p, ']')
	}
	if p < 0 {
		return p
	}
	for _, e := range wanted {
		if !d.absentNode(e.node, "missing") {
			d.at(stepText(e.index))
			return -1
		}
	}
	return p
}

// open returns the position of the first element of the array at p, or the one behind the array if it has none.
func (d *Decoder) open(p int) (first int, more bool) {
	if !d.enter(p) {
		return -1, false
	}
	return d.first(p, ']')
}

// unlike reads a null where the taker would have something else, and says that any other value does not fit. Space in front of the value
// it leaves out.
func (d *Decoder) unlike(t *taker, p int) int {
	if byteAt(d.buf, p) == 'n' {
		return d.null(t, p)
	}
	if q := d.space(p); q > p {
		return t.take(d, t, q)
	}
	return d.mismatch(p, t.expects())
}

// expects says what the taker takes.
func (t *taker) expects() string {
	switch t.op {
	case takeStruct, takeMap, enterObject:
		return "an object"
	case takeArray, enterArray:
		return "an array"
	case takeBinary:
		return "binary (base64 text)"
	case takeDate:
		return "date (yyyy-MM-dd text)"
	case takeTimestamp, takeTimestampNTZ:
		return t.col.typ.String() + " (RFC 3339 text; for numbers declare the column long)"
	default:
		return t.col.typ.String()
	}
}

// mismatch says that the value at p is of another kind than expected.
func (d *Decoder) mismatch(p int, expected string) int {
	found := ""
	switch c := d.buf[p]; {
	case c == '"':
		found = "a string"
	case c == '{':
		found = "an object"
	case c == '[':
		found = "an array"
	case c == '-' || isDigit(c):
		found = "a number"
	case string(d.buf[p:p+4]) == "true", string(d.buf[p:p+5]) == "false":
		found = "a boolean"
	case string(d.buf[p:p+4]) == "null":
		found = "null"
	default:
		return d.expected(p, "a value")
	}
	return d.misfit(found + " where " + expected + " is expected")
}

// stepText is an array's element in the path of a fault.
func stepText(index int) string { return "[" + strconv.Itoa(index) + "]" }
