package table

import (
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// leavesIn are the leaves of a column of a file, nil for one that the file lacks, that hold what those of a column of the layout do, in their order: of
// the same types, and with all levels that say the same of the columns around them. Lists and maps may give other names to what is in them. False if a
// leaf has none.
func (l *layout) leavesIn(c *column, in *parquet.Column) ([]*parquet.Column, bool) {
	finder := leafFinder{layout: l}
	all := finder.column(c, in)
	return finder.found, all
}

type leafFinder struct {
	layout *layout
	found  []*parquet.Column
}

func (f *leafFinder) fields(fields []schema.Field, columns []*column, in *parquet.Column) bool {
	for i, c := range columns {
		if !f.column(c, fileColumn(in, &fields[i])) {
			return false
		}
	}
	return true
}

// column looks at what a file has for a column: nil for nothing.
func (f *leafFinder) column(c *column, in *parquet.Column) bool {
	if in == nil || in.Repeated() || in.MaxDefinitionLevel() != c.def || in.Leaf() != c.isLeaf() {
		return false
	}
	switch c.typ.Kind {
	case schema.Struct:
		return f.fields(c.typ.Fields, c.children, in)
	case schema.Array, schema.Map:
		return f.items(c, in)
	default:
		f.found = append(f.found, in)
		return annotatedType(in) == f.layout.leaves[c.firstLeaf].annotated
	}
}

// items looks at the items of a list or map that is in three levels.
func (f *leafFinder) items(c *column, in *parquet.Column) bool {
	if len(in.Columns()) != 1 {
		return false
	}
	item := in.Columns()[0]
	if !item.Repeated() || item.MaxRepetitionLevel() != c.rep || len(item.Columns()) != len(c.children) || len(c.children) == 1 && isElement(item, in) {
		return false
	}
	for i, child := range c.children {
		if !f.column(child, item.Columns()[i]) {
			return false
		}
	}
	return true
}
