package schema

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// ArrowType returns the type of the columns that carry it: strings and binaries with 32-bit offsets, decimal128,
// date32, timestamp in microseconds with zone UTC, timestamp_ntz in microseconds without zone, lists whose element is
// called "element", maps, and VariantType.
func (t *Type) ArrowType() arrow.DataType {
	switch t.Kind {
	case Boolean:
		return arrow.FixedWidthTypes.Boolean
	case Byte:
		return arrow.PrimitiveTypes.Int8
	case Short:
		return arrow.PrimitiveTypes.Int16
	case Integer:
		return arrow.PrimitiveTypes.Int32
	case Long:
		return arrow.PrimitiveTypes.Int64
	case Float:
		return arrow.PrimitiveTypes.Float32
	case Double:
		return arrow.PrimitiveTypes.Float64
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case String:
		return arrow.BinaryTypes.String
	case Binary:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case TimestampNTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case Array:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: t.Elem.ArrowType(), Nullable: t.ContainsNull})
	case Map:
		m := arrow.MapOf(t.Key.ArrowType(), t.Elem.ArrowType())
		m.SetItemNullable(t.ContainsNull)
		return m
	case Struct:
		return arrow.StructOf(t.arrowFields()...)
	case Variant:
		return newVariantType()
	default:
		return arrow.Null
	}
}

// ArrowSchema returns a struct's fields as the schema of a record.
func (t *Type) ArrowSchema() *arrow.Schema { return arrow.NewSchema(t.arrowFields(), nil) }

func (t *Type) arrowFields() []arrow.Field {
	fields := make([]arrow.Field, len(t.Fields))
	for i, f := range t.Fields {
		fields[i] = arrow.Field{Name: f.Name, Type: f.Type.ArrowType(), Nullable: f.Nullable}
	}
	return fields
}

// FromArrowSchema returns the struct whose ArrowSchema is s, but for dictionaries. Types that FromArrow does not know are errors
// that name the column.
func FromArrowSchema(s *arrow.Schema) (*Type, error) { return fromArrowFields(s.Fields()) }

func fromArrowFields(fields []arrow.Field) (*Type, error) {
	t := &Type{Kind: Struct, Fields: make([]Field, len(fields))}
	for i, f := range fields {
		ft, err := FromArrow(f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		t.Fields[i] = Field{Name: f.Name, Type: ft, Nullable: f.Nullable}
	}
	return t, nil
}

// FromArrow returns the type whose ArrowType is d. A timestamp with any zone is an instant and so a timestamp, and strings and
// binaries may be in a dictionary with 32-bit indices.
func FromArrow(d arrow.DataType) (*Type, error) {
	switch d := d.(type) {
	case *arrow.Decimal128Type:
		if !validDecimal(int(d.Precision), int(d.Scale)) {
			return nil, fmt.Errorf("the Arrow type %s has no Delta type", d)
		}
		return DecimalOf(int(d.Precision), int(d.Scale)), nil
	case *arrow.TimestampType:
		if d.Unit != arrow.Microsecond {
			return nil, fmt.Errorf("the Arrow type %s has no Delta type; timestamps are in microseconds", d)
		}
		if d.TimeZone == "" {
			return Of(TimestampNTZ), nil
		}
		return Of(Timestamp), nil
	case *arrow.DictionaryType:
		return fromArrowDictionary(d)
	case *arrow.ListType:
		elem, err := FromArrow(d.Elem())
		if err != nil {
			return nil, err
		}
		return &Type{Kind: Array, Elem: elem, ContainsNull: d.ElemField().Nullable}, nil
	case *arrow.MapType:
		return fromArrowMap(d)
	case *arrow.StructType:
		return fromArrowFields(d.Fields())
	case *VariantType:
		return Of(Variant), nil
	}
	if k, ok := fromArrowID(d.ID()); ok {
		return Of(k), nil
	}
	return nil, fmt.Errorf("the Arrow type %s has no Delta type", d)
}

func fromArrowDictionary(d *arrow.DictionaryType) (*Type, error) {
	values := d.ValueType.ID()
	if d.IndexType.ID() != arrow.INT32 || values != arrow.STRING && values != arrow.BINARY {
		return nil, fmt.Errorf("the Arrow type %s has no Delta type; dictionaries hold strings or binaries, and their indices are int32", d)
	}
	return FromArrow(d.ValueType)
}

func fromArrowMap(d *arrow.MapType) (*Type, error) {
	key, err := FromArrow(d.KeyType())
	if err != nil {
		return nil, err
	}
	value, err := FromArrow(d.ItemType())
	if err != nil {
		return nil, err
	}
	return &Type{Kind: Map, Key: key, Elem: value, ContainsNull: d.ItemField().Nullable}, nil
}

func fromArrowID(id arrow.Type) (Kind, bool) {
	switch id {
	case arrow.BOOL:
		return Boolean, true
	case arrow.INT8:
		return Byte, true
	case arrow.INT16:
		return Short, true
	case arrow.INT32:
		return Integer, true
	case arrow.INT64:
		return Long, true
	case arrow.FLOAT32:
		return Float, true
	case arrow.FLOAT64:
		return Double, true
	case arrow.STRING:
		return String, true
	case arrow.BINARY:
		return Binary, true
	case arrow.DATE32:
		return Date, true
	default:
		return 0, false
	}
}
