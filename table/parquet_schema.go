package table

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/sluicedata/sluice/schema"
)

// group is a Parquet group whose fields keep their order; parquet.Group sorts them by name.
type group struct {
	parquet.Group // type and answers of an empty group
	fields        []parquet.Field
}

func (g *group) Fields() []parquet.Field { return g.fields }
func (g *group) String() string          { return fmt.Sprintf("group of %d fields", len(g.fields)) }

// GoType is never that of rows here: values go in and out by column.
func (g *group) GoType() reflect.Type        { return reflect.TypeFor[struct{}]() }
func (g *group) Encoding() encoding.Encoding { return nil }
func (g *group) Compression() compress.Codec { return nil }

// groupField is a named node of a group.
type groupField struct {
	parquet.Node
	name string
}

func (f *groupField) Name() string                      { return f.name }
func (f *groupField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// parquetSchema returns the schema of data files that hold the struct's fields, by their stored names and ids, in the Parquet
// types that Delta's writers agree on: lists and maps in three levels, and leaves as schema.ParquetLeaf has them.
func parquetSchema(t *schema.Type) *parquet.Schema {
	return parquet.NewSchema("spark_schema", structNode(t))
}

func structNode(t *schema.Type) parquet.Node {
	g := &group{fields: make([]parquet.Field, len(t.Fields))}
	for i, f := range t.Fields {
		node := optional(typeNode(f.Type), f.Nullable)
		if f.Stored.ID != 0 {
			node = parquet.FieldID(node, f.Stored.ID)
		}
		g.fields[i] = &groupField{Node: node, name: f.StoredName()}
	}
	return g
}

func optional(n parquet.Node, nullable bool) parquet.Node {
	if nullable {
		return parquet.Optional(n)
	}
	return parquet.Required(n)
}

func typeNode(t *schema.Type) parquet.Node {
	switch t.Kind {
	case schema.Struct:
		return structNode(t)
	case schema.Array:
		return parquet.List(optional(typeNode(t.Elem), t.ContainsNull))
	case schema.Map:
		return parquet.Map(parquet.Required(typeNode(t.Key)), optional(typeNode(t.Elem), t.ContainsNull))
	default:
		return schema.ParquetLeaf(t)
	}
}
