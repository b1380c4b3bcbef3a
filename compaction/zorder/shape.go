package zorder

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// form is how values of a column lie in memory.
type form uint8

const (
	booleans form = iota
	numbers
	texts
	lists
	structs
)

// shape is what all columns have in common that hold values of one column.
type shape struct {
	typ        arrow.DataType // that of the table
	form       form
	width      int         // of a number, in bytes
	dictionary *dictionary // of texts
	children   []*shape    // the items of lists; the fields of structs
}

// newShape returns that of columns of a type.
func newShape(t arrow.DataType) *shape {
	s := &shape{typ: t}
	stored := t
	if e, ok := t.(arrow.ExtensionType); ok {
		stored = e.StorageType()
	}
	switch stored := stored.(type) {
	case *arrow.BooleanType:
		s.form = booleans
	case *arrow.StringType, *arrow.BinaryType:
		s.form, s.dictionary = texts, newDictionary(t)
	case arrow.ListLikeType:
		s.form, s.children = lists, []*shape{newShape(stored.Elem())}
	case *arrow.StructType:
		s.form = structs
		for _, f := range stored.Fields() {
			s.children = append(s.children, newShape(f.Type))
		}
	case arrow.FixedWidthDataType:
		s.form, s.width = numbers, stored.Bytes()
	}
	return s
}

// newRows returns the shape of rows: structs of a key and of the columns of a schema.
func newRows(s *arrow.Schema) *shape {
	rows := newShape(arrow.StructOf(s.Fields()...))
	rows.children = slices.Insert(rows.children, 0, newShape(arrow.PrimitiveTypes.Uint64))
	return rows
}

// leaves is how many columns have values of their own, the shape's or those below it.
func (s *shape) leaves() int {
	if len(s.children) == 0 {
		return 1
	}
	n := 0
	for _, child := range s.children {
		n += child.leaves()
	}
	return n
}

// giveRoom has the dictionaries take so many bytes each.
func (s *shape) giveRoom(bytes int64) {
	if s.dictionary != nil {
		s.dictionary.room = bytes
	}
	for _, child := range s.children {
		child.giveRoom(bytes)
	}
}
