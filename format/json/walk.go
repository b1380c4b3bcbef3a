package json

import "strconv"

// value gives the value at p to the node's takers.
func (d *Decoder) value(n *node, p int) int {
	if len(n.takers) == 1 {
		return d.take(&n.takers[0], p)
	}
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
func (d *Decoder) take(t *taker, p int) int {
	q := d.dispatch(t, p)
	if q < 0 && d.column == "" {
		d.column = t.column
	}
	return q
}

func (d *Decoder) dispatch(t *taker, p int) int {
	if d.buf[p] == 'n' && t.op != takeRecord {
		q := d.literal(p, "null")
		if q < 0 || !d.absent(t, "null") {
			return -1
		}
		return q
	}
	switch t.op {
	case takeBoolean:
		return d.boolean(t.col, p)
	case takeInteger:
		return d.integer(t.col, p)
	case takeFloat, takeDouble:
		return d.numeric(t.col, p)
	case takeDecimal:
		return d.decimal(t.col, p)
	case takeString:
		return d.string(t.col, p)
	case takeBinary:
		return d.binary(t.col, p)
	case takeDate, takeTimestamp, takeTimestampNTZ:
		return d.instantText(t, p)
	case takeArray:
		return d.array(t, p)
	case takeMap:
		return d.mapping(t, p)
	case takeStruct, enterObject:
		return d.object(t.members, p)
	case enterArray:
		return d.elements(t.elements, p)
	default:
		return d.recordText(t.col, p)
	}
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
	if !d.enter(p) {
		return -1
	}
	m.visit++
	if p = d.space(p + 1); d.buf[p] == '}' {
		p++
	} else if p = d.fields(m, p); p < 0 {
		return p
	}
	d.depth--
	for _, f := range m.fields {
		if f.seen != m.visit && !d.lacking(f.node, f.name, "missing") {
			return -1
		}
	}
	if m.owner != nil {
		m.owner.mark(1)
	}
	return p
}

// fields reads the fields of an object, the first of which is at p, up to and with the closing brace.
func (d *Decoder) fields(m *members, p int) int {
	for previous := &m.first; ; {
		s, q := d.name(m, previous, p)
		if q < 0 {
			return q
		}
		previous = s
		if q = d.field(m, s, q); q < 0 {
			return q
		}
		q = d.space(q)
		switch d.buf[q] {
		case ',':
			p = d.space(q + 1)
		case '}':
			return q + 1
		default:
			return d.expected(q, "',' or '}'")
		}
	}
}

// name reads the name of a field and its colon. Objects mostly have their fields in one order, so the field that came
// behind the previous one last time is tried first.
func (d *Decoder) name(m *members, previous *slot, p int) (*slot, int) {
	if s := previous.next; s != nil && len(s.raw) > 0 {
		end := p + len(s.raw)
		if end <= d.end && string(d.buf[p:end]) == s.raw {
			return s, d.space(end)
		}
	}
	if d.buf[p] != '"' {
		return nil, d.expected(p, "a field name")
	}
	text, q := d.str(p)
	if q < 0 {
		return nil, q
	}
	s := m.slots[string(text)]
	if s == nil {
		s = d.unknown.slot(m, text)
	}
	previous.next = s
	return s, d.colon(q)
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
	}
	f.seen = m.visit
	q := d.value(f.node, p)
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
	p = d.eachElement(p, func(_, p int) int { return d.value(t.elem, p) })
	if p >= 0 {
		t.col.closeList()
	}
	return p
}

// elements reads those elements of the array at p that paths lead into.
func (d *Decoder) elements(wanted []element, p int) int {
	p = d.eachElement(p, func(i, p int) int {
		if len(wanted) == 0 || wanted[0].index != i {
			return d.skip(p)
		}
		n := wanted[0].node
		wanted = wanted[1:]
		return d.value(n, p)
	})
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

// eachElement calls read with index and position of each element of the array at p.
func (d *Decoder) eachElement(p int, read func(i, p int) int) int {
	if d.buf[p] != '[' {
		return d.mismatch(p, "an array")
	}
	if !d.enter(p) {
		return -1
	}
	if p = d.space(p + 1); d.buf[p] == ']' {
		d.depth--
		return p + 1
	}
	for i := 0; ; i++ {
		q := read(i, p)
		if q < 0 {
			d.at(stepText(i))
			return q
		}
		q = d.space(q)
		switch d.buf[q] {
		case ',':
			p = d.space(q + 1)
		case ']':
			d.depth--
			return q + 1
		default:
			return d.expected(q, "',' or ']'")
		}
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
