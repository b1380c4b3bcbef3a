package table

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

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

// parquetSchema returns the schema of data files that hold the struct's fields, in the Parquet types that Delta's
// writers agree on: lists and maps in three levels, timestamps in microseconds, decimals in the smallest type that holds
// them, integers without annotation but for those of 8 and 16 bits. long are the leaves, by path, that have long values.
func parquetSchema(t *schema.Type, long map[string]bool) *parquet.Schema {
	return parquet.NewSchema("spark_schema", structNode("", t, long))
}

func structNode(path string, t *schema.Type, longs map[string]bool) parquet.Node {
	g := &group{fields: make([]parquet.Field, len(t.Fields))}
	for i, f := range t.Fields {
		g.fields[i] = &groupField{Node: optional(typeNode(childPath(path, f.Name), f.Type, longs), f.Nullable), name: f.Name}
	}
	return g
}

func optional(n parquet.Node, nullable bool) parquet.Node {
	if nullable {
		return parquet.Optional(n)
	}
	return parquet.Required(n)
}

func typeNode(path string, t *schema.Type, longs map[string]bool) parquet.Node {
	switch t.Kind {
	case schema.Struct:
		return structNode(path, t, longs)
	case schema.Array:
		return parquet.List(optional(typeNode(childPath(path, "element"), t.Elem, longs), t.ContainsNull))
	case schema.Map:
		return parquet.Map(parquet.Required(typeNode(childPath(path, "key"), t.Key, longs)), optional(typeNode(childPath(path, "value"), t.Elem, longs), t.ContainsNull))
	case schema.String:
		if longs[path] {
			return parquet.Encoded(parquet.Leaf(long{parquet.String().Type()}), &parquet.Plain)
		}
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case schema.Binary:
		if longs[path] {
			return parquet.Encoded(parquet.Leaf(long{parquet.ByteArrayType}), &parquet.Plain)
		}
		return parquet.Encoded(parquet.Leaf(parquet.ByteArrayType), &parquet.Plain)
	default:
		return parquet.Encoded(leafNode(t), &parquet.Plain)
	}
}

func leafNode(t *schema.Type) parquet.Node {
	switch t.Kind {
	case schema.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case schema.Byte:
		return parquet.Int(8)
	case schema.Short:
		return parquet.Int(16)
	case schema.Integer:
		return parquet.Leaf(bare{parquet.Int32Type})
	case schema.Long:
		return parquet.Leaf(bare{parquet.Int64Type})
	case schema.Float:
		return parquet.Leaf(unbounded{parquet.FloatType})
	case schema.Double:
		return parquet.Leaf(unbounded{parquet.DoubleType})
	case schema.Decimal:
		return decimalNode(t)
	case schema.Date:
		return parquet.Date()
	case schema.Timestamp:
		return parquet.TimestampAdjusted(parquet.Microsecond, true)
	case schema.TimestampNTZ:
		return parquet.TimestampAdjusted(parquet.Microsecond, false)
	default:
		return parquet.Leaf(parquet.ByteArrayType)
	}
}

// bare is a physical type without annotation. parquet-go says of its plain integers that they are integers, which is true and
// not what Delta's other writers write.
type bare struct{ parquet.Type }

func (bare) LogicalType() *format.LogicalType         { return nil }
func (bare) ConvertedType() *deprecated.ConvertedType { return nil }

func decimalNode(t *schema.Type) parquet.Node {
	switch {
	case t.Precision <= 9:
		return parquet.Decimal(t.Scale, t.Precision, parquet.Int32Type)
	case t.Precision <= 18:
		return parquet.Decimal(t.Scale, t.Precision, parquet.Int64Type)
	default:
		return parquet.Decimal(t.Scale, t.Precision, unbounded{parquet.FixedLenByteArrayType(decimalBytes(t.Precision))})
	}
}

// decimalBytes is the length of the shortest two's complement that holds any number of that many digits.
func decimalBytes(precision int) int {
	// log2(10) = 3.3219…; 38 digits need 16 bytes.
	bits := 1 + (precision*33219281+9999999)/10000000
	return (bits + 7) / 8
}
