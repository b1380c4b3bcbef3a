package table

import (
	"github.com/sluicedata/sluice/schema"
)

// column is a node of a data file's schema with its levels, after the Dremel paper and Parquet's "Nested Encoding": a
// definition level counts how many optional and repeated ancestors are there, a repetition level says at which of the
// repeated ones a value starts a new item.
type column struct {
	name     string
	path     string // dotted, for messages and statistics
	typ      *schema.Type
	nullable bool

	nullDef int // definition level when this value is null, but all around it is there
	def     int // definition level when it is there
	rep     int // arrays and maps: repetition level of the second item and later ones

	firstLeaf, endLeaf int       // indexes of its leaves
	children           []*column // struct: fields; array: element; map: key, value
}

// columnsOf returns the columns of a file that holds the struct's fields, and the paths of its leaves.
func columnsOf(t *schema.Type) (columns []*column, leaves []string) {
	root := &column{typ: t}
	for _, f := range t.Fields {
		root.add(f.Name, f.Type, f.Nullable, level{}, &leaves)
	}
	return root.children, leaves
}

type level struct{ def, rep int }

func (c *column) add(name string, t *schema.Type, nullable bool, outer level, leaves *[]string) {
	child := &column{name: name, path: childPath(c.path, name), typ: t, nullable: nullable, nullDef: outer.def, def: outer.def, firstLeaf: len(*leaves)}
	if nullable {
		child.def++
	}
	inner := level{def: child.def, rep: outer.rep}
	switch t.Kind {
	case schema.Struct:
		for _, f := range t.Fields {
			child.add(f.Name, f.Type, f.Nullable, inner, leaves)
		}
	case schema.Array, schema.Map:
		inner = level{def: child.def + 1, rep: outer.rep + 1}
		child.rep = inner.rep
		if t.Kind == schema.Map {
			child.add("key", t.Key, false, inner, leaves)
			child.add("value", t.Elem, t.ContainsNull, inner, leaves)
			break
		}
		child.add("element", t.Elem, t.ContainsNull, inner, leaves)
	default:
		*leaves = append(*leaves, child.path)
	}
	child.endLeaf = len(*leaves)
	c.children = append(c.children, child)
}

// childPath is the dotted path of what is inside of the column at path, or at the top where that is empty.
func childPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
