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
// them, integers without annotation but for those of 8 and 16 bits.
func parquetSchema(t *schema.Type) *parquet.Schema {
	return parquet.NewSchema("spark_schema", structNode(t))
}

func structNode(t *schema.Type) parquet.Node {
	g := &group{fields: make([]parquet.Field, len(t.Fields))}
	for i, f := range t.Fields {
		g.fields[i] = &groupField{Node: optional(typeNode(f.Type), f.Nullable), name: f.Name}
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
		return leafNode(t)
	}
}

func leafNode(t *schema.Type) parquet.Node {
	switch t.Kind {
	case schema.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case schema.String:
		return parquet.String()
	case schema.Byte:
		return parquet.Int(8)
	case schema.Short:
		return parquet.Int(16)
	case schema.Integer:
		return parquet.Leaf(bare{parquet.Int32Type})
	case schema.Long:
		return parquet.Leaf(bare{parquet.Int64Type})
	case schema.Float:
		return parquet.Leaf(parquet.FloatType)
	case schema.Double:
		return parquet.Leaf(parquet.DoubleType)
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
		return parquet.Decimal(t.Scale, t.Precision, parquet.FixedLenByteArrayType(decimalBytes(t.Precision)))
	}
}

// decimalBytes is the length of the shortest two's complement that holds any number of that many digits.
func decimalBytes(precision int) int {
	// log2(10) = 3.3219…; 38 digits need 16 bytes.
	bits := 1 + (precision*33219281+9999999)/10000000
	return (bits + 7) / 8
}
