package schema

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// VariantType is Arrow's canonical extension type of variants: a struct of the metadata and the value, as package variant
// reads them.
type VariantType struct{ arrow.ExtensionBase }

func newVariantType() *VariantType {
	return &VariantType{arrow.ExtensionBase{Storage: arrow.StructOf(
		arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary},
	)}}
}

func (*VariantType) ArrayType() reflect.Type { return reflect.TypeFor[VariantArray]() }
func (*VariantType) ExtensionName() string   { return "arrow.parquet.variant" }
func (*VariantType) Serialize() string       { return "" }
func (t *VariantType) String() string        { return "extension<" + t.ExtensionName() + ">" }

func (t *VariantType) ExtensionEquals(o arrow.ExtensionType) bool {
	return t.ExtensionName() == o.ExtensionName() && arrow.TypeEqual(t.Storage, o.StorageType())
}

// Deserialize refuses storage of another form, such as that of shredded variants.
func (*VariantType) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	t := newVariantType()
	if !arrow.TypeEqual(t.Storage, storage) {
		return nil, fmt.Errorf("variants that are stored as %s are not read; store them as %s", storage, t.Storage)
	}
	return t, nil
}

// VariantArray is a column of variants.
type VariantArray struct{ array.ExtensionArrayBase }

// Value is the variant of a row, which is not null. The bytes are the array's.
func (a *VariantArray) Value(i int) (metadata, value []byte) {
	s := a.Storage().(*array.Struct)
	return s.Field(0).(*array.Binary).Value(i), s.Field(1).(*array.Binary).Value(i)
}

// ValueStr is for those who print arrays.
func (a *VariantArray) ValueStr(i int) string { return a.Storage().ValueStr(i) }
