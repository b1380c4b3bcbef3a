package json

import (
	"math"
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
	takeSeveral
	enterObject
	enterArray
)

// takes has what each op does: it reads the value at p, and returns the position behind it.
var takes = [...]func(d *Decoder, t *taker, p int) int{
	takeBoolean:      (*Decoder).boolean,
	takeInteger:      (*Decoder).integer,
	takeFloat:        (*Decoder).numeric,
	takeDouble:       (*Decoder).double,
	takeDecimal:      (*Decoder).decimal,
	takeString:       (*Decoder).coded,
	takeBinary:       (*Decoder).binary,
	takeDate:         (*Decoder).date,
	takeTimestamp:    (*Decoder).timestamp,
	takeTimestampNTZ: (*Decoder).timestamp,
	takeArray:        (*Decoder).array,
	takeMap:          (*Decoder).mapping,
	takeStruct:       (*Decoder).object,
	takeRecord:       (*Decoder).recordText,
	takeSeveral:      (*Decoder).several,
	enterObject:      (*Decoder).object,
	enterArray:       (*Decoder).elements,
}

// node is a place in a record that something wants the value of. Nearly always one taker does; where there are more, each
// reads the value by itself.
type node struct {
	takers []taker
	cols   []*column // all columns that are written below here, but for those inside a column; for cutting back
}

// taker takes the value of a node into a column, or goes on to the nodes below it.
type taker struct {
	op     op
	take   func(d *Decoder, t *taker, p int) int // takes[op], until spell makes a column of strings a plain one
	col    *column                               // nil for those that enter, and for takeSeveral
	column string                                // its name, when it is a column of the decoder and not inside one

	members  *members  // takeStruct, enterObject
	elem     *node     // takeArray, takeMap
	keys     *mapKeys  // takeMap
	elements []element // enterArray, by index
	several  *node     // takeSeveral
}

// element is an element of an array that a path leads into.
type element struct {
	index int
	node  *node
}

// members are the fields of an object, those that are wanted and what has been learned about the objects met.
type members struct {
	owner  *column // the struct's column; nil for a path's way through an object
	wanted []*field
	byName map[string]*field // wanted or not
	first  field             // stands in front of the first one, for its guess
	rest   field             // of those that are not remembered by name
	visit  uint64            // number of the object being read

	missing int // fields that are wanted and that object has not had yet

	place   string // the path of these objects, in front of unknown fields
	uncount bool   // unknown fields are not this place's to count
}

// field is a field that is wanted, or has been met.
type field struct {
	next  [2]guess // the two fields last met behind it, since some are left out now and then
	visit uint64   // the last object that had it; beyond all of them for a field that nobody wants
	taker *taker   // of its value; nil for a field that nobody wants here
	count *int64   // of an unknown field; nil when it is not to be counted

	name string // of a wanted field
	node *node  // its place
}

// unwanted is the visit of fields that nobody wants.
const unwanted = math.MaxUint64

func newMembers(owner *column, place string) *members {
	return &members{owner: owner, place: place, byName: map[string]*field{}, rest: field{visit: unwanted}}
}

// field returns the wanted field of the name, new if need be.
func (m *members) field(name string) *field {
	if f, ok := m.byName[name]; ok {
		return f
	}
	f := &field{name: name, node: &node{}}
	m.wanted = append(m.wanted, f)
	m.byName[name] = f
	return f
}

// taker returns the one that gives the value to all takers of the node.
func (n *node) taker() *taker {
	if len(n.takers) == 1 {
		return &n.takers[0]
	}
	return &taker{op: takeSeveral, take: takes[takeSeveral], several: n}
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
