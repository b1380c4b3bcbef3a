package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/schema/variant"
)

// source is a column of the table as one file stores it: how to put its next value together from the leaves below.
type source struct {
	typ      *schema.Type
	def      int                 // definition level when the value is there
	itemDef  int                 // arrays and maps: definition level when they have an item
	rep      int                 // arrays and maps: repetition level of the second item and later ones
	outerRep int                 // repetition level of what is around
	read     appendValue         // leaves
	leaf     *parquetfile.Cursor // leaves
	presence *parquetfile.Cursor // of any leaf below, whose levels tell whether the value is there; for a leaf itself
	probe    bool                // presence belongs to no child: it is there for its levels alone
	children []*source           // nil for what the file does not have
	key      bool                // of a map, and so never null
}

// sources makes the cursors that a row group's leaves are read with.
type sources struct {
	file    *parquetfile.File
	group   int
	cursors map[int]*parquetfile.Cursor // by leaf
}

func (s *sources) cursor(leaf *parquet.Column) *parquetfile.Cursor {
	c := s.cursors[leaf.Index()]
	if c == nil {
		c = s.file.Cursor(s.group, leaf.Index())
		s.cursors[leaf.Index()] = c
	}
	return c
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
	var err error
	if src.read, err = leafReader(t, c); err != nil {
		return nil, err
	}
	src.leaf = s.cursor(c)
	src.presence = src.leaf
	return src, nil
}

// list finds the repeated level and the element below it by the rules of Parquet's "LIST backward-compatibility".
func (s *sources) list(src *source, c *parquet.Column) error {
	if c.Leaf() || len(c.Columns()) != 1 || !c.Columns()[0].Repeated() {
		return fmt.Errorf("column %s: the file stores no list where the table has %s", c.Name(), src.typ)
	}
	repeated := c.Columns()[0]
	src.itemDef, src.rep = repeated.MaxDefinitionLevel(), repeated.MaxRepetitionLevel()
	element := repeated
	switch {
	case repeated.Leaf(), len(repeated.Columns()) != 1, repeated.Name() == "array", repeated.Name() == c.Name()+"_tuple":
		return s.items(src, src.typ.Elem, element)
	default:
		return s.items(src, src.typ.Elem, repeated.Columns()[0])
	}
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

// variant finds the two leaves of a variant (PROTOCOL.md, "Variant Data Type").
func (s *sources) variant(src *source, c *parquet.Column) error {
	metadata, value := c.Column("metadata"), c.Column("value")
	switch {
	case c.Column("typed_value") != nil:
		return fmt.Errorf("column %s: the file stores shredded variants, which this version does not read; have the engine that wrote the file rewrite it with delta.enableVariantShredding=false", c.Name())
	case c.Leaf() || metadata == nil || value == nil:
		return fmt.Errorf("column %s: the file stores no variant where the table has one", c.Name())
	}
	return s.children(src, []*schema.Type{schema.Of(schema.Binary), schema.Of(schema.Binary)}, []*parquet.Column{metadata, value}, c)
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
		src.presence, src.probe = s.cursor(leaf), true
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
	var err error
	child.read, err = leafReader(t, c)
	child.leaf = s.cursor(c)
	child.presence = child.leaf
	return child, err
}

// assemble puts the next value behind the others of the builder.
func (src *source) assemble(b array.Builder) error {
	if src == nil {
		b.AppendNull()
		return nil
	}
	ok, err := src.presence.Peek()
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("a column ends before the others")
	}
	front := src.presence.Front()
	if front.DefinitionLevel() < src.def {
		if src.key {
			return fmt.Errorf("a map has a key that is null")
		}
		b.AppendNull()
		return src.skip()
	}
	if src.read != nil {
		return src.read(b, src.leaf.Next())
	}
	switch b := b.(type) {
	case *array.StructBuilder:
		return src.assembleStruct(b)
	case *array.ExtensionBuilder:
		return src.assembleVariant(b.StorageBuilder().(*array.StructBuilder))
	case *array.MapBuilder:
		b.Append(true)
		return src.assembleItems(front, b.KeyBuilder(), b.ItemBuilder())
	case *array.ListBuilder:
		b.Append(true)
		return src.assembleItems(front, b.ValueBuilder())
	default:
		return fmt.Errorf("a builder of type %s stands where %s is", b.Type(), src.typ)
	}
}

func (src *source) assembleStruct(b *array.StructBuilder) error {
	b.Append(true)
	for i, child := range src.children {
		if err := child.assemble(b.FieldBuilder(i)); err != nil {
			return err
		}
	}
	if src.probe {
		return src.skipProbe()
	}
	return nil
}

// assembleVariant appends a variant that can be decoded.
func (src *source) assembleVariant(b *array.StructBuilder) error {
	if err := src.assembleStruct(b); err != nil {
		return err
	}
	metadata, value := b.FieldBuilder(0).(*array.BinaryBuilder), b.FieldBuilder(1).(*array.BinaryBuilder)
	last := b.Len() - 1
	if metadata.IsNull(last) || value.IsNull(last) {
		return errors.New("a variant has no metadata, or no value")
	}
	_, err := variant.Decode(metadata.Value(last), value.Value(last))
	return err
}

func (src *source) assembleItems(front *parquet.Value, builders ...array.Builder) error {
	if front.DefinitionLevel() < src.itemDef {
		return src.skip()
	}
	for {
		for i, child := range src.children {
			if err := child.assemble(builders[i]); err != nil {
				return err
			}
		}
		if src.probe {
			return src.skipProbe()
		}
		ok, err := src.presence.Peek()
		if err != nil || !ok || src.presence.Front().RepetitionLevel() < src.rep {
			return err
		}
	}
}

// skip takes the one value that each leaf has for a null or an empty list.
func (src *source) skip() error {
	if src.leaf != nil {
		src.leaf.Next()
		return nil
	}
	for _, child := range src.children {
		if child == nil {
			continue
		}
		if ok, err := child.presence.Peek(); err != nil || !ok {
			return err
		}
		if err := child.skip(); err != nil {
			return err
		}
	}
	if src.probe {
		return src.skipProbe()
	}
	return nil
}

// skipProbe takes all that the probed leaf has for one value.
func (src *source) skipProbe() error {
	for first := true; ; first = false {
		ok, err := src.presence.Peek()
		if err != nil || !ok || !first && src.presence.Front().RepetitionLevel() <= src.outerRep {
			return err
		}
		src.presence.Next()
	}
}
