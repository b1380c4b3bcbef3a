package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/schema/variant"
)

// shredded is how a file stores a variant, or a field or an item of one, in columns of their own (parquet-format,
// VariantShredding.md): a group of value, which is encoded, and typed_value. Either may be missing, in the file and in a row.
type shredded struct {
	value, typed int         // their places among the group's fields; -1: the file has none
	kind         variantKind // of a typed_value
	names        []string    // of the fields of an object
	parts        []*shredded // its fields; or the one of the items of an array
}

// variantKind is what a value of a column is as a variant.
type variantKind struct {
	kind  variant.Kind
	nanos bool
}

// shreddedGroup reads what a group stores, and the type that it is read as: a struct of the same fields.
func shreddedGroup(c *parquet.Column) (*shredded, *schema.Type, error) {
	s := &shredded{value: -1, typed: -1}
	var fields []schema.Field
	if c.Column("value") != nil {
		s.value = len(fields)
		fields = append(fields, schema.Field{Name: "value", Type: schema.Of(schema.Binary), Nullable: true})
	}
	if typed := c.Column("typed_value"); typed != nil {
		t, err := s.typedValue(typed)
		if err != nil {
			return nil, nil, err
		}
		s.typed = len(fields)
		fields = append(fields, schema.Field{Name: "typed_value", Type: t, Nullable: true})
	}
	if c.Leaf() || len(fields) == 0 {
		return nil, nil, fmt.Errorf("column %s: the file stores neither a value nor a typed_value of a variant", c.Name())
	}
	return s, schema.StructOf(fields...), nil
}

// typedValue reads what a typed_value is.
func (s *shredded) typedValue(c *parquet.Column) (t *schema.Type, err error) {
	switch columns := c.Columns(); {
	case c.Leaf():
		s.kind, t = shreddedLeaf(c.Type())
		if t == nil {
			return nil, fmt.Errorf("column %s: the file stores variants as %s, which the specification does not have", c.Name(), c.Type())
		}
		return t, nil
	case len(columns) == 1 && columns[0].Repeated() && len(columns[0].Columns()) == 1:
		s.kind.kind = variant.Array
		item, of, err := shreddedGroup(columns[0].Columns()[0])
		if err != nil {
			return nil, err
		}
		s.parts = []*shredded{item}
		return schema.ArrayOf(of), nil
	default:
		s.kind.kind = variant.Object
		fields := make([]schema.Field, len(columns))
		for i, column := range columns {
			part, of, err := shreddedGroup(column)
			if err != nil {
				return nil, err
			}
			fields[i] = schema.Field{Name: column.Name(), Type: of, Nullable: true}
			s.parts, s.names = append(s.parts, part), append(s.names, column.Name())
		}
		return schema.StructOf(fields...), nil
	}
}

// shreddedLeaf is what values of a Parquet type are as variants, and the type that they are read as ("Shredded Value Types"); nil for one
// that cannot be.
func shreddedLeaf(t parquet.Type) (variantKind, *schema.Type) {
	if logical := t.LogicalType(); logical != nil {
		return annotatedLeaf(t.Kind(), logical)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return variantKind{kind: variant.Boolean}, schema.Of(schema.Boolean)
	case parquet.Int32:
		return variantKind{kind: variant.Integer}, schema.Of(schema.Integer)
	case parquet.Int64:
		return variantKind{kind: variant.Integer}, schema.Of(schema.Long)
	case parquet.Float:
		return variantKind{kind: variant.Float}, schema.Of(schema.Float)
	case parquet.Double:
		return variantKind{kind: variant.Double}, schema.Of(schema.Double)
	case parquet.ByteArray:
		return variantKind{kind: variant.Binary}, schema.Of(schema.Binary)
	}
	return variantKind{}, nil
}

func annotatedLeaf(kind parquet.Kind, logical *format.LogicalType) (variantKind, *schema.Type) {
	switch l := logical.Value.(type) {
	case *format.IntType:
		if l.IsSigned {
			return variantKind{kind: variant.Integer}, schema.Of(schema.Long)
		}
	case *format.DecimalType:
		return variantKind{kind: variant.Decimal}, schema.DecimalOf(int(l.Precision), int(l.Scale))
	case *format.DateType:
		return variantKind{kind: variant.Date}, schema.Of(schema.Date)
	case *format.TimeType:
		if _, micros := l.Unit.Value.(*format.MicroSeconds); micros {
			return variantKind{kind: variant.Time}, schema.Of(schema.Long)
		}
	case *format.TimestampType:
		of := variantKind{kind: variant.TimestampNTZ}
		if l.IsAdjustedToUTC {
			of.kind = variant.Timestamp
		}
		switch l.Unit.Value.(type) {
		case *format.NanoSeconds:
			of.nanos = true
			return of, schema.Of(schema.Long)
		case *format.MicroSeconds:
			return of, schema.Of(schema.Long)
		}
	case *format.StringType:
		return variantKind{kind: variant.String}, schema.Of(schema.String)
	case *format.UUIDType:
		if kind == parquet.FixedLenByteArray {
			return variantKind{kind: variant.UUID}, schema.Of(schema.Binary)
		}
	}
	return variantKind{}, nil
}

// shreddedVariant is shreddedGroup for the group of a whole variant, which has metadata as well, behind the others.
func shreddedVariant(c *parquet.Column) (*shredded, *schema.Type, error) {
	top, t, err := shreddedGroup(c)
	if err != nil {
		return nil, nil, err
	}
	t.Fields = append(t.Fields, schema.Field{Name: "metadata", Type: schema.Of(schema.Binary)})
	return top, t, nil
}

// assembleShredded makes an array of variants that are put together and encoded anew. One that is missing is the null of variants.
func (src *source) assembleShredded(slots, within int, valid []byte) (arrow.ArrayData, error) {
	data, err := src.children[0].assemble(slots, within)
	if err != nil {
		return nil, err
	}
	group := array.NewStructData(data)
	names := group.Field(group.NumField() - 1).(*array.Binary)
	metadata, value := newBinaryBuilder(slots), newBinaryBuilder(slots)
	for i := range slots {
		if valid != nil && !bitutil.BitIsSet(valid, i) {
			metadata.AppendNull()
			value.AppendNull()
			continue
		}
		if names.IsNull(i) {
			return nil, errors.New("a variant has no metadata")
		}
		r := unshredder{metadata: names.Value(i)}
		v, _, err := r.value(src.shredded, group, i)
		if err != nil {
			return nil, err
		}
		encodedNames, encoded, err := variant.Encode(&v)
		if err != nil {
			return nil, err
		}
		metadata.Append(encodedNames)
		value.Append(encoded)
	}
	parts := []arrow.ArrayData{metadata.NewArray().Data(), value.NewArray().Data()}
	return array.NewData(src.typ.ArrowType(), slots, buffers(valid), parts, absentIn(valid, slots), 0), nil
}

func newBinaryBuilder(n int) *array.BinaryBuilder {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	b.Reserve(n)
	return b
}

// unshredder puts one variant together.
type unshredder struct{ metadata []byte }

// value is what a row of a group holds; false when it is missing.
func (r *unshredder) value(s *shredded, group *array.Struct, row int) (v variant.Value, there bool, err error) {
	var encoded []byte
	if s.value >= 0 && group.Field(s.value).IsValid(row) {
		encoded = group.Field(s.value).(*array.Binary).Value(row)
		if v, err = variant.Decode(r.metadata, encoded); err != nil {
			return v, false, err
		}
	}
	if s.typed < 0 || group.Field(s.typed).IsNull(row) {
		return v, encoded != nil, nil
	}
	typed, err := r.typed(s, group.Field(s.typed), row)
	if err != nil || encoded == nil {
		return typed, true, err
	}
	if typed.Kind != variant.Object || v.Kind != variant.Object {
		return v, false, errors.New("the variant is damaged: it has a value and a typed_value, and is no object")
	}
	typed.Fields = append(typed.Fields, v.Fields...) // of which Encode refuses those that are in both
	return typed, true, nil
}

func (r *unshredder) typed(s *shredded, column arrow.Array, row int) (variant.Value, error) {
	switch column := column.(type) {
	case *array.Struct:
		return r.object(s, column, row)
	case *array.List:
		return r.items(s.parts[0], column, row)
	}
	return s.kind.of(column, row)
}

func (r *unshredder) object(s *shredded, column *array.Struct, row int) (variant.Value, error) {
	v := variant.Value{Kind: variant.Object, Fields: []variant.Field{}}
	for i, part := range s.parts {
		field, there, err := r.value(part, column.Field(i).(*array.Struct), row)
		if err != nil {
			return v, err
		}
		if there {
			v.Fields = append(v.Fields, variant.Field{Name: s.names[i], Value: field})
		}
	}
	return v, nil
}

func (r *unshredder) items(item *shredded, column *array.List, row int) (variant.Value, error) {
	start, end := column.ValueOffsets(row)
	v := variant.Value{Kind: variant.Array, Items: make([]variant.Value, 0, end-start)}
	for at := start; at < end; at++ {
		value, _, err := r.value(item, column.ListValues().(*array.Struct), int(at))
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, value) // null if it is missing
	}
	return v, nil
}

// of is a value of a column as a variant.
func (k variantKind) of(column arrow.Array, row int) (variant.Value, error) {
	v := variant.Value{Kind: k.kind, Nanos: k.nanos}
	switch a := column.(type) {
	case *array.Boolean:
		v.Boolean = a.Value(row)
	case *array.Int32:
		v.Integer = int64(a.Value(row))
	case *array.Int64:
		v.Integer = a.Value(row)
	case *array.Date32:
		v.Integer = int64(a.Value(row))
	case *array.Float32:
		v.Float = float64(a.Value(row))
	case *array.Float64:
		v.Float = a.Value(row)
	case *array.Decimal128:
		v.Unscaled, v.Scale = a.Value(row), a.DataType().(*arrow.Decimal128Type).Scale
	case *array.String:
		v.Bytes = []byte(a.Value(row))
	case *array.Binary:
		v.Bytes = a.Value(row)
	default:
		return v, fmt.Errorf("no variant is made of a column of %s", column.DataType())
	}
	if k.kind == variant.UUID && len(v.Bytes) != 16 {
		return v, fmt.Errorf("the variant is damaged: a UUID of %d bytes", len(v.Bytes))
	}
	return v, nil
}
