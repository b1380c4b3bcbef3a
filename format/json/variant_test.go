package json

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
)

func TestVariantsArePrintedAsTheJSONThatTheyStandFor(t *testing.T) {
	names := []byte{0x11, 2, 0, 1, 3, 'k', 'k', '"'}
	for want, value := range map[string][]byte{
		`null`:                                   {0},
		`true`:                                   {1 << 2},
		`-128`:                                   {3 << 2, 0x80},
		`-9223372036854775808`:                   {6 << 2, 0, 0, 0, 0, 0, 0, 0, 0x80},
		`1`:                                      {7 << 2, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F},
		`"NaN"`:                                  {14 << 2, 0, 0, 0xC0, 0x7F},
		`0.1`:                                    {14 << 2, 0xCD, 0xCC, 0xCC, 0x3D},
		`-0.01`:                                  {8 << 2, 2, 0xFF, 0xFF, 0xFF, 0xFF},
		`12.34`:                                  {8 << 2, 2, 0xD2, 0x04, 0, 0},
		`"1969-12-31"`:                           {11 << 2, 0xFF, 0xFF, 0xFF, 0xFF},
		`"1970-01-01T00:00:00.000001Z"`:          {12 << 2, 1, 0, 0, 0, 0, 0, 0, 0},
		`"1970-01-01T00:00:00.000001"`:           {13 << 2, 1, 0, 0, 0, 0, 0, 0, 0},
		`"1969-12-31T23:59:59.999999999Z"`:       {18 << 2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
		`"1970-01-01T00:00:00.000000001"`:        {19 << 2, 1, 0, 0, 0, 0, 0, 0, 0},
		`"00:01:00"`:                             {17 << 2, 0x00, 0x87, 0x93, 0x03, 0, 0, 0, 0},
		`"/wA="`:                                 {15 << 2, 2, 0, 0, 0, 0xFF, 0},
		`"00010203-0405-0607-0809-0a0b0c0d0e0f"`: {20 << 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		`"a\"b"`:                                 {1 | 3<<2, 'a', '"', 'b'},
		`{}`:                                     {2, 0, 0},
		`[null,7]`:                               {3, 2, 0, 1, 3, 0, 3 << 2, 7},
		`{"k":true,"k\"":[]}`:                    {2, 2, 0, 1, 0, 1, 4, 4, 3, 0, 0},
		`"(no JSON form: the variant is damaged: it ends too early)"`: {},
	} {
		s := schema.StructOf(schema.Field{Name: "v", Type: schema.ArrayOf(schema.Of(schema.Variant)), Nullable: true}).ArrowSchema()
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		list := b.Field(0).(*array.ListBuilder)
		list.Append(true)
		items := list.ValueBuilder().(*array.ExtensionBuilder)
		items.AppendNull()
		v := items.StorageBuilder().(*array.StructBuilder)
		v.Append(true)
		v.FieldBuilder(0).(*array.BinaryBuilder).Append(names)
		v.FieldBuilder(1).(*array.BinaryBuilder).Append(value)
		if got := string(AppendRow(nil, b.NewRecord(), 0)); got != `{"v":[null,`+want+`]}` {
			t.Errorf("%s where %s should be", got, want)
		}
	}
}

func TestTypeOfVariantsIsArrows(t *testing.T) {
	typ := schema.Of(schema.Variant).ArrowType().(arrow.ExtensionType)
	if back, err := schema.FromArrow(typ); err != nil || back.Kind != schema.Variant || typ.ExtensionName() != "arrow.parquet.variant" {
		t.Errorf("%v, %v", back, err)
	}
	if same, err := typ.Deserialize(typ.StorageType(), ""); err != nil || !arrow.TypeEqual(same, typ) {
		t.Errorf("%v, %v", same, err)
	}
	if _, err := typ.Deserialize(arrow.BinaryTypes.Binary, ""); err == nil {
		t.Error("variants of one binary are taken")
	}
}
