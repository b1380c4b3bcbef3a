package table

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

// source is a column of the table as one file stores it: how to put its values together from the leaves below.
type source struct {
	typ      *schema.Type
	def      int         // definition level when the value is there
	itemDef  int         // arrays and maps: definition level when they have an item
	rep      int         // arrays and maps: repetition level of the second item and later ones
	outerRep int         // repetition level of what is around
	leaf     *leafColumn // leaves
	presence *leafColumn // any leaf below, whose levels tell whether the value is there; for a leaf itself
	children []*source   // nil for what the file does not have
	key      bool        // of a map, and so never null
	shredded *shredded   // of a variant that is: its one child is the group
}

// sources makes the leaves that a row group is read with.
type sources struct {
	file         *parquetfile.File
	group        int
	dictionaries bool // texts may stay in the file's dictionaries
	leaves       []*leafColumn
	byIndex      map[int]*leafColumn
}

// leaf returns the column of a leaf of the file.
func (s *sources) leaf(of *parquet.Column) *leafColumn {
	c := s.byIndex[of.Index()]
	if c == nil {
		c = newLeafColumn(s.file, s.group, of)
		s.byIndex[of.Index()] = c
		s.leaves = append(s.leaves, c)
	}
	return c
}

// valued gives a source the leaf that its values are in.
func (s *sources) valued(src *source, of *parquet.Column) error {
	read, err := leafReader(src.typ, of)
	if err != nil {
		return err
	}
	src.leaf = s.leaf(of)
	src.leaf.read, src.leaf.values, src.leaf.dictionaries = read, newLeafValues(src.typ), s.dictionaries
	src.presence = src.leaf
	return nil
}

// column returns the source of a column of the type, nil when the file has none.
func (s *sources) column(t *schema.Type, c *parquet.Column, outerRep int) (*source, error) {
	if c == nil {
		return nil, nil
	}
	if c.Repeated() && t.Kind == schema.Array {
		// A repeated field that is no LIST: an array that is never null, of elements that are never null.
		src := &source{typ: t, def: c.MaxDefinitionLevel() - 1, itemDef: c.MaxDefinitionLevel(), rep: c.MaxRepetitionLevel(), outerRep: outerRep}
		return src, s.children(src, []*schema.Type{t.Elem}, []*parquet.Column{c}, c)
	}
	src := &source{typ: t, def: c.MaxDefinitionLevel(), outerRep: outerRep}
	switch t.Kind {
	case schema.Struct:
		if c.Leaf() {
			return nil, fmt.Errorf("column %s: the file stores %s where the table has %s", c.Name(), c.Type(), t)
		}
		types, columns := make([]*schema.Type, len(t.Fields)), make([]*parquet.Column, len(t.Fields))
		for i, f := range t.Fields {
			types[i], columns[i] = f.Type, fileColumn(c, &f)
		}
		return src, s.children(src, types, columns, c)
	case schema.Array:
		return src, s.list(src, c)
	case schema.Map:
		return src, s.mapping(src, c)
	case schema.Variant:
		return src, s.variant(src, c)
	}
	if !c.Leaf() {
		return nil, fmt.Errorf("column %s: the file stores a group where the table has %s", c.Name(), t)
	}
	return src, s.valued(src, c)
}

// list finds the repeated level and the element below it by the rules of Parquet's "LIST backward-compatibility".
func (s *sources) list(src *source, c *parquet.Column) error {
	if c.Leaf() || len(c.Columns()) != 1 || !c.Columns()[0].Repeated() {
		return fmt.Errorf("column %s: the file stores no list where the table has %s", c.Name(), src.typ)
	}
	repeated := c.Columns()[0]
	src.itemDef, src.rep = repeated.MaxDefinitionLevel(), repeated.MaxRepetitionLevel()
	if isElement(repeated, c) {
		return s.items(src, src.typ.Elem, repeated)
	}
	return s.items(src, src.typ.Elem, repeated.Columns()[0])
}

// isElement says whether the repeated level of a list is its element, and not a group around that.
func isElement(repeated, list *parquet.Column) bool {
	return repeated.Leaf() || len(repeated.Columns()) != 1 || repeated.Name() == "array" || repeated.Name() == list.Name()+"_tuple"
}

// items gives the array its element, which may be the repeated level itself.
func (s *sources) items(src *source, t *schema.Type, element *parquet.Column) error {
	return s.children(src, []*schema.Type{t}, []*parquet.Column{element}, element)
}

func (s *sources) mapping(src *source, c *parquet.Column) error {
	if c.Leaf() || len(c.Columns()) != 1 || !c.Columns()[0].Repeated() || len(c.Columns()[0].Columns()) != 2 {
		return fmt.Errorf("column %s: the file stores no map where the table has %s", c.Name(), src.typ)
	}
	entry := c.Columns()[0]
	src.itemDef, src.rep = entry.MaxDefinitionLevel(), entry.MaxRepetitionLevel()
	if err := s.children(src, []*schema.Type{src.typ.Key, src.typ.Elem}, entry.Columns(), entry); err != nil {
		return err
	}
	src.children[0].key = true
	return nil
}

// variant finds the two leaves of a variant (PROTOCOL.md, "Variant Data Type"), or the group of a shredded one.
func (s *sources) variant(src *source, c *parquet.Column) error {
	metadata, value, typed := c.Column("metadata"), c.Column("value"), c.Column("typed_value")
	if c.Leaf() || metadata == nil || value == nil && typed == nil {
		return fmt.Errorf("column %s: the file stores no variant where the table has one", c.Name())
	}
	plain := *s
	plain.dictionaries = false
	defer func() { s.leaves = plain.leaves }()
	if typed == nil {
		return plain.children(src, []*schema.Type{schema.Of(schema.Binary), schema.Of(schema.Binary)}, []*parquet.Column{metadata, value}, c)
	}
	shredded, group, err := shreddedVariant(c)
	if err != nil {
		return err
	}
	child, err := plain.column(group, c, src.outerRep)
	if err != nil {
		return err
	}
	src.shredded, src.children, src.presence = shredded, []*source{child}, child.presence
	return nil
}

// children makes the sources below, and finds a leaf whose levels tell of src itself.
func (s *sources) children(src *source, types []*schema.Type, columns []*parquet.Column, within *parquet.Column) error {
	outer := src.outerRep
	if src.rep > 0 {
		outer = src.rep
	}
	for i, t := range types {
		child, err := s.inside(src, t, columns[i], outer)
		if err != nil {
			return err
		}
		src.children = append(src.children, child)
		if child != nil && src.presence == nil {
			src.presence = child.presence
		}
	}
	if src.presence == nil {
		leaf := within
		for !leaf.Leaf() {
			if len(leaf.Columns()) == 0 {
				return fmt.Errorf("column %s: the file stores a group without columns", within.Name())
			}
			leaf = leaf.Columns()[0]
		}
		src.presence = s.leaf(leaf)
	}
	return nil
}

// inside makes a child. One that is its parent's repeated level must not be taken for an array of its own.
func (s *sources) inside(src *source, t *schema.Type, c *parquet.Column, outer int) (*source, error) {
	if c == nil || !c.Repeated() {
		return s.column(t, c, outer)
	}
	if src.rep != c.MaxRepetitionLevel() {
		return s.column(t, c, outer)
	}
	child := &source{typ: t, def: c.MaxDefinitionLevel(), outerRep: outer}
	if t.Kind == schema.Struct && !c.Leaf() {
		types, columns := make([]*schema.Type, len(t.Fields)), make([]*parquet.Column, len(t.Fields))
		for i, f := range t.Fields {
			types[i], columns[i] = f.Type, fileColumn(c, &f)
		}
		return child, s.children(child, types, columns, c)
	}
	if !c.Leaf() || t.Nested() {
		return nil, fmt.Errorf("column %s: the file stores a list of another form than %s", c.Name(), t)
	}
	return child, s.valued(child, c)
}
