package rowhash

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

func record(t *testing.T, schema *arrow.Schema, rows string) arrow.Record {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rec.Release)
	return rec
}

func TestCanonicalTextOfValues(t *testing.T) {
	for _, tc := range []struct {
		typ  arrow.DataType
		json string
		want string
	}{
		{arrow.PrimitiveTypes.Int64, `-9223372036854775808`, "-9223372036854775808"},
		{arrow.PrimitiveTypes.Int8, `-1`, "-1"},
		{arrow.FixedWidthTypes.Boolean, `true`, "true"},
		{arrow.PrimitiveTypes.Float64, `0.5`, "4602678819172646912"},
		{arrow.PrimitiveTypes.Float64, `-0.0`, "-9223372036854775808"},
		{arrow.PrimitiveTypes.Float32, `0.5`, "1056964608"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `"-12.50"`, "-1250s2"},
		{arrow.BinaryTypes.String, `"é,\u001f"`, "4:é,\x1f"},
		{arrow.BinaryTypes.String, `""`, "0:"},
		{arrow.BinaryTypes.String, `null`, "~"},
		{arrow.BinaryTypes.Binary, `"AP8="`, "2:\x00\xff"},
		{arrow.PrimitiveTypes.Date32, `"1969-12-31"`, "-1"},
		{arrow.FixedWidthTypes.Timestamp_us, `"1970-01-01T00:00:01.000002Z"`, "1000002"},
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), `[1,null]`, "[1,~]"},
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), `[]`, "[]"},
		{arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int64, Nullable: true}), `{"b":null}`, "{~}"},
		{
			arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64),
			`[{"key":"b","value":1},{"key":"a","value":null}]`, "<1:a=~,1:b=1>",
		},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: tc.typ, Nullable: true}}, nil)
		text, err := appenderOf(record(t, schema, `[{"c":`+tc.json+`}]`).Column(0))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text(nil, 0)); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.typ, tc.json, got, tc.want)
		}
	}
}

func TestEveryNaNIsOne(t *testing.T) {
	odd := math.Float64frombits(0xfff8000000000001)
	if a, b := AppendDouble(nil, math.NaN()), AppendDouble(nil, odd); !cmp.Equal(a, b) {
		t.Errorf("%s and %s", a, b)
	}
	odd32 := math.Float32frombits(0xffc00001)
	if a, b := AppendFloat(nil, float32(math.NaN())), AppendFloat(nil, odd32); !cmp.Equal(a, b) {
		t.Errorf("%s and %s", a, b)
	}
}

func TestSumIsThatOfNaiveArithmetic(t *testing.T) {
	var got Sum
	want := new(big.Int)
	for i := range int64(1000) {
		row := AppendInt(nil, i)
		got.Add(row)
		var one Sum
		one.Add(row)
		n, _ := new(big.Int).SetString(one.Hash(), 16)
		want.Add(want, n)
	}
	want.Mod(want, new(big.Int).Lsh(big.NewInt(1), 128))
	if n, _ := new(big.Int).SetString(got.Hash(), 16); n.Cmp(want) != 0 || got.Rows != 1000 {
		t.Errorf("%s of %d rows, want %x", got.Hash(), got.Rows, want)
	}
}

func TestHashKnowsRowsAndNotTheirOrder(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	hash := func(rows string, columns ...string) string {
		var s Sum
		if err := s.Record(record(t, schema, rows), columns...); err != nil {
			t.Fatal(err)
		}
		return s.Hash()
	}
	base := hash(`[{"a":1,"b":"x"},{"a":2,"b":"y"}]`)
	for name, tc := range map[string]struct {
		hash string
		same bool
	}{
		"other order":        {hash(`[{"a":2,"b":"y"},{"a":1,"b":"x"}]`), true},
		"a row twice":        {hash(`[{"a":1,"b":"x"},{"a":2,"b":"y"},{"a":2,"b":"y"}]`), false},
		"values exchanged":   {hash(`[{"a":1,"b":"y"},{"a":2,"b":"x"}]`), false},
		"null for a value":   {hash(`[{"a":1,"b":"x"},{"a":2,"b":null}]`), false},
		"one column":         {hash(`[{"a":1,"b":"x"},{"a":2,"b":"y"}]`, "a"), false},
		"both columns named": {hash(`[{"a":1,"b":"x"},{"a":2,"b":"y"}]`, "b", "a"), true},
	} {
		if (tc.hash == base) != tc.same {
			t.Errorf("%s: %s beside %s", name, tc.hash, base)
		}
	}
}

func TestMissingColumnIsAnError(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	var s Sum
	if err := s.Record(record(t, schema, `[{"a":1}]`), "b"); err == nil {
		t.Error("no error")
	}
}

func TestSchemaSpellsDeltaNames(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
		{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 18}},
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int32))},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.Binary})},
	}, nil)
	want := []string{
		"n:timestamp_ntz", "t:timestamp", "d:decimal(38,18)", "m:map<string,array<integer>>", "s:struct<x:binary>",
	}
	if diff := cmp.Diff(want, Schema(schema)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:2], Schema(schema, "t")); diff != "" {
		t.Error(diff)
	}
}
