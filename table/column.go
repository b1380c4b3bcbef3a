package table

import (
	"github.com/sluicedata/sluice/schema"
)

// column is a node of a data file's schema with its levels, after the Dremel paper and Parquet's "Nested Encoding": a
// definition level counts how many optional and repeated ancestors are there, a repetition level says at which of the
// repeated ones a value starts a new item.
type column struct {
	stored   string // its name in files and in the log's statistics
	path     string // dotted, of the table's own names
	typ      *schema.Type
	nullable bool

	nullDef int // definition level when this value is null, but all around it is there
	def     int // definition level when it is there
	rep     int // arrays and maps: repetition level of the second item and later ones

	node               int       // its index among all columns of the file
	firstLeaf, endLeaf int       // indexes of its leaves
	children           []*column // struct: fields; array: element; map: key, value
}

// isLeaf says that the column has values of its own.
func (c *column) isLeaf() bool {
	return c.typ.Kind != schema.Struct && c.typ.Kind != schema.Array && c.typ.Kind != schema.Map
}

// columnsOf returns the columns of a file that holds the struct's fields, and how many there are with those inside them.
func columnsOf(t *schema.Type) (columns []*column, nodes int) {
	root := &column{typ: t}
	count := counts{}
	for _, f := range t.Fields {
		root.add(f.Name, f.StoredName(), f.Type, f.Nullable, level{}, &count)
	}
	return root.children, count.nodes
}

type counts struct{ nodes, leaves int }

type level struct{ def, rep int }

func (c *column) add(name, stored string, t *schema.Type, nullable bool, outer level, count *counts) {
	child := &column{stored: stored, path: name, typ: t, nullable: nullable, nullDef: outer.def, def: outer.def, node: count.nodes, firstLeaf: count.leaves}
	count.nodes++
	if c.path != "" {
		child.path = c.path + "." + name
	}
	if nullable {
		child.def++
	}
	inner := level{def: child.def, rep: outer.rep}
	switch t.Kind {
	case schema.Struct:
		for _, f := range t.Fields {
			child.add(f.Name, f.StoredName(), f.Type, f.Nullable, inner, count)
		}
	case schema.Array, schema.Map:
		inner = level{def: child.def + 1, rep: outer.rep + 1}
		child.rep = inner.rep
		if t.Kind == schema.Map {
			child.add("key", "key", t.Key, false, inner, count)
			child.add("value", "value", t.Elem, t.ContainsNull, inner, count)
			break
		}
		child.add("element", "element", t.Elem, t.ContainsNull, inner, count)
	default:
		count.leaves++
	}
	child.endLeaf = count.leaves
	c.children = append(c.children, child)
}

// appendLeafTypes appends the types of the column's leaves.
func (c *column) appendLeafTypes(types []*schema.Type) []*schema.Type {
	if c.isLeaf() {
		return append(types, c.typ)
	}
	for _, child := range c.children {
		types = child.appendLeafTypes(types)
	}
	return types
}
