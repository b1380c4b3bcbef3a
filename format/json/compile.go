package json

import (
	"fmt"
	"slices"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
)

// ops are the takers of kinds.
var ops = map[schema.Kind]op{
	schema.Boolean: takeBoolean, schema.Byte: takeInteger, schema.Short: takeInteger, schema.Integer: takeInteger,
	schema.Long: takeInteger, schema.Float: takeFloat, schema.Double: takeDouble, schema.Decimal: takeDecimal,
	schema.String: takeString, schema.Binary: takeBinary, schema.Date: takeDate, schema.Timestamp: takeTimestamp,
	schema.TimestampNTZ: takeTimestampNTZ, schema.Array: takeArray, schema.Map: takeMap, schema.Struct: takeStruct,
}

// grow adds the column, which is read from the path, to the tree.
func (n *node) grow(path format.Path, name string, col *column) error {
	if path.IsWhole() {
		t, err := newTaker(col, "")
		if err != nil {
			return err
		}
		if t.op == takeString {
			t.op, t.take = takeRecord, takes[takeRecord]
			col.spell()
		}
		t.column = name
		n.takers = append(n.takers, t)
		return nil
	}
	place, inside := "", ""
	for i, step := range path {
		next, err := n.step(step, place, inside)
		if err != nil {
			return err
		}
		next.cols = append(next.cols, col)
		n, place, inside = next, path[:i+1].String(), name
	}
	t, err := newTaker(col, place)
	if err != nil {
		return err
	}
	t.column = name
	n.takers = append(n.takers, t)
	return nil
}

// step returns the node that a step leads to. The column is the one to name when the value here can't be stepped into.
func (n *node) step(s format.Step, place, column string) (*node, error) {
	want, other := enterObject, enterArray
	if s.Field == "" {
		want, other = enterArray, enterObject
	}
	if s.Field == "" && s.Index < 0 {
		return nil, fmt.Errorf("the path has an index below 0; indices count from 0, and $ stands alone")
	}
	for i := range n.takers {
		if n.takers[i].op == other {
			return nil, fmt.Errorf("another column's path wants %s to be an object where this one wants an array, or the other way round; "+
				"read one of them as text, with a string column", placeName(place))
		}
	}
	at := slices.IndexFunc(n.takers, func(t taker) bool { return t.op == want })
	if at < 0 {
		at = len(n.takers)
		n.takers = append(n.takers, taker{op: want, take: takes[want], column: column})
		if want == enterObject {
			n.takers[at].members = newMembers(nil, place)
		}
	}
	if want == enterObject {
		return n.takers[at].members.field(s.Field).node, nil
	}
	return n.takers[at].element(s.Index), nil
}

func placeName(place string) string {
	if place == "" {
		return "the record"
	}
	return place
}

// newTaker returns what fills a column, and the columns inside it.
func newTaker(col *column, place string) (taker, error) {
	op := ops[col.typ.Kind]
	t := taker{op: op, take: takes[op], col: col}
	switch op {
	case 0:
		return taker{}, fmt.Errorf("the type %s is not known to format json", col.typ)
	case takeString:
		col.code()
	case takeArray:
		return t, t.fill(col.kids[0], place+"[]")
	case takeMap:
		if col.typ.Key.Nested() {
			return taker{}, fmt.Errorf("a map's key can't be %s: JSON has only names there", col.typ.Key)
		}
		t.keys = &mapKeys{}
		return t, t.fill(col.kids[1], place+"{}")
	case takeStruct:
		t.members = newMembers(col, place)
		for i, kid := range col.kids {
			name := col.typ.Fields[i].Name
			sub, err := newTaker(kid, fieldPath(place, name))
			if err != nil {
				return taker{}, err
			}
			f := t.members.field(name)
			f.node.takers = append(f.node.takers, sub)
			f.node.cols = append(f.node.cols, kid)
		}
	}
	return t, nil
}

func (t *taker) fill(inside *column, place string) error {
	sub, err := newTaker(inside, place)
	if err != nil {
		return err
	}
	t.elem = &node{takers: []taker{sub}, cols: []*column{inside}}
	return nil
}

// settle decides, for nodes of one and the same place, who counts the unknown fields there: a field that any of them
// wants is not unknown to the others, one that none wants is counted once, and where the whole value is taken as text or
// as a map nothing is unknown.
func settle(nodes []*node, counted bool) {
	here := counted
	var objects []*members
	var inside []*node
	var elements []element
	for _, n := range nodes {
		for i := range n.takers {
			t := &n.takers[i]
			switch t.op {
			case takeStruct, enterObject:
				objects = append(objects, t.members)
			case takeArray, takeMap:
				inside = append(inside, t.elem)
			case enterArray:
				elements = append(elements, t.elements...)
			case takeString, takeRecord:
				here, counted = false, false
			}
			here = here && t.op != takeMap
		}
	}
	settleObjects(objects, here)
	for _, e := range elements {
		settle([]*node{e.node}, counted && len(inside) == 0)
	}
	if len(inside) > 0 {
		settle(inside, counted)
	}
}

func settleObjects(objects []*members, counted bool) {
	byName := map[string][]*node{}
	var names []string
	for i, m := range objects {
		m.uncount = !counted || i > 0
		for _, f := range m.wanted {
			f.taker = f.node.taker()
			if byName[f.name] == nil {
				names = append(names, f.name)
			}
			byName[f.name] = append(byName[f.name], f.node)
		}
	}
	for _, name := range names {
		for _, m := range objects {
			if m.byName[name] == nil {
				m.byName[name] = &field{visit: unwanted}
			}
		}
		settle(byName[name], counted)
	}
}
