package json

import (
	"slices"

	"github.com/sluicedata/sluice/format"
)

// op says what a taker does with a value.
type op uint8

const (
	takeBoolean op = iota + 1
	takeInteger
	takeFloat
	takeDouble
	takeDecimal
	takeString
	takeBinary
	takeDate
	takeTimestamp
	takeTimestampNTZ
	takeArray
	takeMap
	takeStruct
	takeRecord // the record's text, into a string
	enterObject
	enterArray
)

// node is a place in a record that something wants the value of. Nearly always one taker does; where there are more, each
// reads the value by itself.
type node struct {
	takers []taker
	cols   []*column // all columns that are written below here, but for those inside a column; for cutting back
}

// taker takes the value of a node into a column, or goes on to the nodes below it.
type taker struct {
	op     op
	col    *column // nil for enterObject and enterArray
	column string  // its name, when it is a column of the decoder and not inside one

	members  *members  // takeStruct, enterObject
	elem     *node     // takeArray, takeMap
	keys     *mapKeys  // takeMap
	elements []element // enterArray, by index
}

// element is an element of an array that a path leads into.
type element struct {
	index int
	node  *node
}

// members are the fields of an object that are wanted, and what has been learned about the objects met.
type members struct {
	owner  *column // the struct's column; nil for a path's way through an object
	fields []*member
	slots  map[string]*slot // by name, wanted or not
	first  slot             // stands in front of the first field, for its guess
	rest   slot             // of the fields that are not remembered by name
	visit  uint64           // number of the object being read
	met    int              // fields of it that have been met

	place   string // the path of these objects, in front of unknown fields
	uncount bool   // unknown fields are not this place's to count
}

// member is a field that is wanted.
type member struct {
	name string
	node *node
	seen uint64 // the last visit that met it
}

// slot is a field that has been met or is wanted.
type slot struct {
	member *member  // nil for a field that nobody wants here
	count  *int64   // of an unknown field; nil when it is not to be counted
	next   [2]guess // the two fields last met behind it, since some are left out now and then
}

func newMembers(owner *column, place string) *members {
	return &members{owner: owner, place: place, slots: map[string]*slot{}}
}

// member returns the wanted field of the name, new if need be.
func (m *members) member(name string) *member {
	if s, ok := m.slots[name]; ok {
		return s.member
	}
	f := &member{name: name, node: &node{}}
	m.fields = append(m.fields, f)
	m.slots[name] = &slot{member: f}
	return f
}

// element returns the node of the element with the index, new if need be.
func (t *taker) element(index int) *node {
	at, found := slices.BinarySearchFunc(t.elements, index, func(e element, i int) int { return e.index - i })
	if !found {
		t.elements = slices.Insert(t.elements, at, element{index: index, node: &node{}})
	}
	return t.elements[at].node
}

// cut takes back what was written below the node, down to n values.
func (n *node) cut(length int) {
	for _, c := range n.cols {
		c.truncate(length)
	}
}

// fieldPath returns the path of a field as people write it.
func fieldPath(place, name string) string {
	step := "``"
	if name != "" {
		step = format.Path{{Field: name}}.String()
	}
	if place == "" {
		return step
	}
	return place + "." + step
}
