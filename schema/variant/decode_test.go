package variant

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	oracle "github.com/parquet-go/parquet-go/variant"
)

// noNames is the metadata of a variant without objects, and ab that of one with the names a and b.
var (
	noNames = []byte{0x01, 0, 0}
	ab      = []byte{0x11, 2, 0, 1, 2, 'a', 'b'}
)

// TestValuesOfEachType has a value of each basic and each primitive type, as the specification describes its bytes.
func TestValuesOfEachType(t *testing.T) {
	text := strings.Repeat("é", 50)
	for name, c := range map[string]struct {
		value []byte
		want  Value
	}{
		"null":           {[]byte{0 << 2}, Value{}},
		"true":           {[]byte{1 << 2}, Value{Kind: Boolean, Boolean: true}},
		"false":          {[]byte{2 << 2}, Value{Kind: Boolean}},
		"int8":           {[]byte{3 << 2, 0x80}, Value{Kind: Integer, Integer: -128}},
		"int16":          {[]byte{4 << 2, 0x00, 0x80}, Value{Kind: Integer, Integer: math.MinInt16}},
		"int32":          {[]byte{5 << 2, 0xFF, 0xFF, 0xFF, 0x7F}, Value{Kind: Integer, Integer: math.MaxInt32}},
		"int64":          {[]byte{6 << 2, 0, 0, 0, 0, 0, 0, 0, 0x80}, Value{Kind: Integer, Integer: math.MinInt64}},
		"double":         {[]byte{7 << 2, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F}, Value{Kind: Double, Float: 1}},
		"decimal4":       {[]byte{8 << 2, 2, 0xD2, 0x04, 0, 0}, Value{Kind: Decimal, Scale: 2, Unscaled: decimal128.FromI64(1234)}},
		"decimal8":       {[]byte{9 << 2, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, Value{Kind: Decimal, Unscaled: decimal128.FromI64(-1)}},
		"decimal16":      {[]byte{10 << 2, 38, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, Value{Kind: Decimal, Scale: 38, Unscaled: decimal128.New(2, 1)}},
		"date":           {[]byte{11 << 2, 0xFF, 0xFF, 0xFF, 0xFF}, Value{Kind: Date, Integer: -1}},
		"timestamp":      {[]byte{12 << 2, 1, 0, 0, 0, 0, 0, 0, 0}, Value{Kind: Timestamp, Integer: 1}},
		"timestamp ntz":  {[]byte{13 << 2, 1, 0, 0, 0, 0, 0, 0, 0}, Value{Kind: TimestampNTZ, Integer: 1}},
		"float":          {[]byte{14 << 2, 0, 0, 0x80, 0xBF}, Value{Kind: Float, Float: -1}},
		"binary":         {[]byte{15 << 2, 2, 0, 0, 0, 0xFF, 0}, Value{Kind: Binary, Bytes: []byte{0xFF, 0}}},
		"long string":    {append([]byte{16 << 2, 100, 0, 0, 0}, text...), Value{Kind: String, Bytes: []byte(text)}},
		"time":           {[]byte{17 << 2, 1, 0, 0, 0, 0, 0, 0, 0}, Value{Kind: Time, Integer: 1}},
		"timestamp ns":   {[]byte{18 << 2, 1, 0, 0, 0, 0, 0, 0, 0}, Value{Kind: Timestamp, Nanos: true, Integer: 1}},
		"ntz ns":         {[]byte{19 << 2, 1, 0, 0, 0, 0, 0, 0, 0}, Value{Kind: TimestampNTZ, Nanos: true, Integer: 1}},
		"uuid":           {[]byte{20 << 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, Value{Kind: UUID, Bytes: []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}},
		"short string":   {[]byte{1 | 2<<2, 'h', 'i'}, Value{Kind: String, Bytes: []byte("hi")}},
		"empty string":   {[]byte{1}, Value{Kind: String, Bytes: []byte{}}},
		"bytes behind":   {[]byte{3 << 2, 7, 1, 2, 3}, Value{Kind: Integer, Integer: 7}},
		"empty object":   {[]byte{2, 0, 0}, Value{Kind: Object, Fields: []Field{}}},
		"empty array":    {[]byte{3, 0, 0}, Value{Kind: Array, Items: []Value{}}},
		"array":          {[]byte{3, 2, 0, 1, 3, 0, 3 << 2, 7}, Value{Kind: Array, Items: []Value{{}, {Kind: Integer, Integer: 7}}}},
		"large array":    {[]byte{3 | 1<<4 | 1<<2, 1, 0, 0, 0, 0, 0, 1, 0, 4}, Value{Kind: Array, Items: []Value{{Kind: Boolean, Boolean: true}}}},
		"object":         {[]byte{2, 2, 0, 1, 0, 1, 2, 4, 8}, Value{Kind: Object, Fields: []Field{{"a", Value{Kind: Boolean, Boolean: true}}, {"b", Value{Kind: Boolean}}}}},
		"values swapped": {[]byte{2, 2, 0, 1, 1, 0, 2, 4, 8}, Value{Kind: Object, Fields: []Field{{"a", Value{Kind: Boolean}}, {"b", Value{Kind: Boolean, Boolean: true}}}}},
		"large object":   {[]byte{2 | 1<<6 | 1<<4 | 2<<2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0}, Value{Kind: Object, Fields: []Field{{Name: "b"}}}},
		"object, array":  {[]byte{2, 1, 0, 0, 4, 3, 1, 0, 1, 0}, Value{Kind: Object, Fields: []Field{{"a", Value{Kind: Array, Items: []Value{{}}}}}}},
	} {
		got, err := Decode(ab, c.value)
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b decimal128.Num) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		metadata, value, err := Encode(&got)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		back, err := Decode(metadata, value)
		if diff := cmp.Diff(got, back, cmp.Comparer(func(a, b decimal128.Num) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%s, encoded again: %v %s", name, err, diff)
		}
	}
}

func TestVariantsThatAreNoneAreRefused(t *testing.T) {
	nested := []byte{0}
	for range MaxDepth + 1 {
		nested = append([]byte{3 | 3<<2, 1, 0, 0, 0, 0, 0, 0, 0, 0}, nested...)
	}
	for name, c := range map[string]struct {
		metadata, value []byte
		want            string
	}{
		"no metadata":        {nil, []byte{0}, "ends too early"},
		"other version":      {[]byte{2, 0, 0}, []byte{0}, "version 2"},
		"names cut":          {[]byte{1, 2, 0, 1}, []byte{0}, "ends too early"},
		"name behind":        {[]byte{1, 1, 0, 9, 'a'}, []byte{0}, "ends too early"},
		"names backwards":    {[]byte{1, 1, 1, 0, 'a'}, []byte{0}, "ends too early"},
		"names no UTF-8":     {[]byte{1, 1, 0, 1, 0xFF}, []byte{0}, "no UTF-8"},
		"no value":           {ab, nil, "ends too early"},
		"number cut":         {ab, []byte{6 << 2, 1, 2}, "ends too early"},
		"unknown type":       {ab, []byte{21 << 2}, "type 21"},
		"text cut":           {ab, []byte{1 | 3<<2, 'a'}, "ends too early"},
		"long text cut":      {ab, []byte{16 << 2, 0xFF, 0xFF, 0xFF, 0xFF, 'a'}, "ends too early"},
		"text no UTF-8":      {ab, []byte{1 | 1<<2, 0xFF}, "no UTF-8"},
		"scale":              {ab, []byte{8 << 2, 39, 0, 0, 0, 0}, "scale 39"},
		"time of day":        {ab, binary.LittleEndian.AppendUint64([]byte{17 << 2}, microsOfDay), "no time of a day"},
		"unknown name":       {noNames, []byte{2, 1, 0, 0, 1, 0}, "ends too early"},
		"one name twice":     {ab, []byte{2, 2, 0, 0, 0, 1, 2, 4, 8}, "two fields of one name"},
		"many items":         {ab, []byte{3 | 1<<4, 0xFF, 0xFF, 0xFF, 0xFF, 0}, "ends too early"},
		"item behind":        {ab, []byte{3, 1, 9, 10, 0}, "ends too early"},
		"items in one place": {ab, []byte{3, 3, 0, 0, 0, 9, 6 << 2, 1, 2, 3, 4, 5, 6, 7, 8}, "overlap"},
		"nested":             {ab, nested, "more than 1000 deep"},
	} {
		if _, err := Decode(c.metadata, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecode holds that what is read is what parquet-go reads.
func FuzzDecode(f *testing.F) {
	f.Add(ab, []byte{2, 2, 0, 1, 0, 1, 2, 4, 8})
	f.Add(ab, []byte{3, 2, 0, 1, 3, 0, 3 << 2, 7})
	f.Add([]byte{0x41, 1, 0, 0, 0, 1, 0, 'k'}, []byte{2, 1, 0, 0, 5, 8 << 2, 2, 0xD2, 0x04, 0, 0})
	f.Fuzz(func(t *testing.T, metadata, value []byte) {
		got, err := Decode(metadata, value)
		if err != nil {
			return
		}
		names, err := oracle.DecodeMetadata(metadata)
		if err != nil {
			t.Fatalf("%x, %x: %v", metadata, value, err)
		}
		want, err := oracle.Decode(names, value)
		if err == nil && !same(got, want) {
			t.Fatalf("%x, %x: %+v, %+v", metadata, value, got, want)
		}
		sortFields(&got) // as they are encoded
		metadata, value, err = Encode(&got)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(metadata, value)
		if err != nil {
			t.Fatalf("%+v: %v", got, err)
		}
		if m, v, err := Encode(&back); err != nil || !bytes.Equal(m, metadata) || !bytes.Equal(v, value) {
			t.Fatalf("%+v is %+v when it has been encoded, %v", got, back, err)
		}
	})
}

// sortFields sorts the fields of objects by their names, in the value and below.
func sortFields(v *Value) {
	slices.SortFunc(v.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	for i := range v.Fields {
		sortFields(&v.Fields[i].Value)
	}
	for i := range v.Items {
		sortFields(&v.Items[i])
	}
}

// same compares a value with parquet-go's. It is stricter than the specification about where values end, and so may have
// refused what an object or array holds.
func same(v Value, o oracle.Value) bool {
	switch v.Kind {
	case Object:
		fields := o.ObjectValue().Fields
		for i := range v.Fields {
			if i >= len(fields) || v.Fields[i].Name != fields[i].Name || !same(v.Fields[i].Value, fields[i].Value) {
				return false
			}
		}
		return o.Basic() == oracle.BasicObject && len(fields) == len(v.Fields)
	case Array:
		items := o.ArrayValue().Elements
		for i := range v.Items {
			if i >= len(items) || !same(v.Items[i], items[i]) {
				return false
			}
		}
		return o.Basic() == oracle.BasicArray && len(items) == len(v.Items)
	case Decimal:
		wide := o.Decimal16Value()
		unscaled := decimal128.New(int64(binary.LittleEndian.Uint64(wide[8:])), binary.LittleEndian.Uint64(wide[:]))
		if o.Type() != oracle.PrimitiveDecimal16 {
			unscaled = decimal128.FromI64(o.Int())
		}
		return unscaled == v.Unscaled && int32(o.Scale()) == v.Scale
	case String:
		return string(v.Bytes) == o.Str()
	case Binary:
		return bytes.Equal(v.Bytes, o.Bytes())
	case UUID:
		return uuid.UUID(v.Bytes) == o.UUIDValue()
	case Null:
		return o.IsNull()
	case Boolean:
		return v.Boolean == o.BoolValue()
	case Float, Double:
		return math.Float64bits(v.Float) == math.Float64bits(o.FloatValue())
	default:
		return v.Integer == o.Int()
	}
}
