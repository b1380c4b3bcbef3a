package json

import "strconv"

// value gives the value at p to the node's takers.
func (d *Decoder) value(n *node, p int) int {
	depth, end := d.depth, p
	for i := range n.takers {
		d.depth = depth
		if end = d.take(&n.takers[i], p); end < 0 {
			return end
		}
	}
	return end
}

// take gives the value at p to the taker, and says which column it is if it does not fit.
func (d *Decoder) take(t *taker, p int) (q int) {
	if d.buf[p] == 'n' && t.op != takeRecord {
		return d.null(t, p)
	}
	switch t.op {
	case takeBoolean:
		q = d.boolean(t.col, p)
	case takeInteger, takeFloat, takeDouble:
		q = d.numeric(t.col, p)
	case takeDecimal:
		q = d.decimal(t.col, p)
	case takeString:
		q = d.string(t.col, p)
	case takeBinary:
		q = d.binary(t.col, p)
	case takeDate:
		q = d.instantText(t, p)
	case takeTimestamp, takeTimestampNTZ:
		q = d.timestamp(t, p)
	case takeArray:
		q = d.array(t, p)
	case takeMap:
		q = d.mapping(t, p)
	case takeStruct, enterObject:
		q = d.object(t.members, p)
	case enterArray:
		q = d.elements(t.elements, p)
	default:
		q = d.recordText(t.col, p)
	}
	if q < 0 && d.column == "" {
		d.column = t.column
	}
	return q
}

// null reads a null for the taker.
func (d *Decoder) null(t *taker, p int) int {
	q := d.literal(p, "null")
	if q >= 0 && d.absent(t, "null") {
		return q
	}
	if d.column == "" {
		d.column = t.column
	}
	return -1
}

// absent gives a null, or the lack of a value, to the taker.
func (d *Decoder) absent(t *taker, what string) bool {
	switch {
	case t.op == enterObject:
		for _, f := range t.members.fields {
			if !d.lacking(f.node, f.name, what) {
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
func (d *Decoder) lacking(n *node, name, what string) bool {
	if d.absentNode(n, what) {
		return true
	}
	d.at(fieldPath("", name))
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
func (d *Decoder) object(m *members, p int) int {
	if d.buf[p] != '{' {
		return d.mismatch(p, "an object")
	}
	m.visit++
	m.met = 0
	if p = d.fields(m, p); p < 0 {
		return p
	}
	if m.met < len(m.fields) && !d.missing(m) {
		return -1
	}
	if m.owner != nil {
		m.owner.n++
	}
	return p
}

// missing gives their lack to the fields that the object did not have.
func (d *Decoder) missing(m *members) bool {
	for _, f := range m.fields {
		if f.seen != m.visit && !d.lacking(f.node, f.name, "missing") {
			return false
		}
	}
	return true
}

// fields reads the object at p from brace to brace.
func (d *Decoder) fields(m *members, p int) int {
	if !d.enter(p) {
		return -1
	}
	for s := &m.first; ; {
		if guess := &s.next[0]; guess.right(d.buf, p) {
			s, p = guess.slot, d.space(p+len(guess.raw))
		} else if s, p = d.name(m, s, p); s == nil {
			return p
		}
		if p = d.field(m, s, p); p < 0 {
			return p
		}
	}
}

// name reads what the first guess missed: all from the previous field, which ends at p, to the value of the next one. There is
// no slot at the end of the object.
func (d *Decoder) name(m *members, previous *slot, p int) (*slot, int) {
	if guess := &previous.next[1]; guess.right(d.buf, p) {
		return guess.slot, d.space(p + len(guess.raw))
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
	s := m.slots[string(text)]
	if s == nil {
		s = d.unknown.slot(m, text)
	}
	if p = d.colon(p); p < 0 {
		return nil, p
	}
	previous.next[0], previous.next[1] = previous.next[1], previous.next[0]
	previous.next[0].learn(s, d.buf[from:p])
	return s, p
}

// field reads the value at p of the field with the slot.
func (d *Decoder) field(m *members, s *slot, p int) int {
	f := s.member
	if f == nil {
		if s.count != nil {
			d.unknown.met = append(d.unknown.met, s.count)
		}
		return d.skip(p)
	}
	if f.seen == m.visit {
		f.node.cut(d.length(m))
	} else {
		f.seen = m.visit
		m.met++
	}
	q := 0
	if takers := f.node.takers; len(takers) == 1 { // as value does it; the call would be a fifteenth of a record's time
		q = d.take(&takers[0], p)
	} else {
		q = d.value(f.node, p)
	}
	if q < 0 {
		d.at(fieldPath("", f.name))
	}
	return q
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
	p, more := d.open(p)
	elem := &t.elem.takers[0]
	for i := 0; more; i++ {
		if p = d.take(elem, p); p < 0 {
			d.at(stepText(i))
			return p
		}
		p, more = d.next(p, ']')
	}
	if p >= 0 {
		t.col.closeList()
	}
	return p
}

// elements reads those elements of the array at p that paths lead into.
func (d *Decoder) elements(wanted []element, p int) int {
	p, more := d.open(p)
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
	if d.buf[p] != '[' {
		return d.mismatch(p, "an array"), false
	}
	if !d.enter(p) {
		return -1, false
	}
	return d.first(p, ']')
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
