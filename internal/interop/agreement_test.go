package interop

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format"
)

// deltaTypes has one column of every type of Delta's, and nested ones.
func deltaTypes() *arrow.Schema {
	inner := arrow.StructOf(
		arrow.Field{Name: "z", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "a", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
	)
	var fields []arrow.Field
	for _, f := range []struct {
		name string
		typ  arrow.DataType
	}{
		{"b", arrow.FixedWidthTypes.Boolean},
		{"i8", arrow.PrimitiveTypes.Int8},
		{"i16", arrow.PrimitiveTypes.Int16},
		{"i32", arrow.PrimitiveTypes.Int32},
		{"i64", arrow.PrimitiveTypes.Int64},
		{"f32", arrow.PrimitiveTypes.Float32},
		{"f64", arrow.PrimitiveTypes.Float64},
		{"dec", &arrow.Decimal128Type{Precision: 38, Scale: 18}},
		{"s", arrow.BinaryTypes.String},
		{"bin", arrow.BinaryTypes.Binary},
		{"d", arrow.PrimitiveTypes.Date32},
		{"ts", arrow.FixedWidthTypes.Timestamp_us},
		{"ntz", &arrow.TimestampType{Unit: arrow.Microsecond}},
		{"l", arrow.ListOf(arrow.BinaryTypes.String)},
		{"ll", arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64))},
		{"st", inner},
		{"ls", arrow.ListOf(inner)},
		{"m", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)},
	} {
		fields = append(fields, arrow.Field{Name: f.name, Type: f.typ, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// randomRecord draws rows with nulls at every level and with the values at the edges of the types.
func randomRecord(r *rand.Rand, schema *arrow.Schema, rows int) arrow.Record {
	return drawRecord(r, schema, rows, func(array.Builder) bool { return true })
}

// withoutNullNests draws rows in which no list, map or struct is null.
func withoutNullNests(r *rand.Rand, schema *arrow.Schema, rows int) arrow.Record {
	return drawRecord(r, schema, rows, func(b array.Builder) bool { return !arrow.IsNested(b.Type().ID()) })
}

func drawRecord(r *rand.Rand, schema *arrow.Schema, rows int, nullable func(array.Builder) bool) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range rows {
		for _, f := range b.Fields() {
			appendRandom(r, f, nullable)
		}
	}
	return b.NewRecord()
}

func appendRandom(r *rand.Rand, b array.Builder, nullable func(array.Builder) bool) {
	if r.IntN(5) == 0 && nullable(b) {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendRandom(r, b.FieldBuilder(i), nullable)
		}
	case *array.MapBuilder:
		b.Append(true)
		for i := range r.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(string(rune('z' - i)))
			appendRandom(r, b.ItemBuilder(), nullable)
		}
	case *array.ListBuilder:
		b.Append(true)
		for range r.IntN(4) {
			appendRandom(r, b.ValueBuilder(), nullable)
		}
	default:
		appendRandomValue(r, b)
	}
}

func appendRandomValue(r *rand.Rand, b array.Builder) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.Int8Builder:
		b.Append(int8(r.Uint32()))
	case *array.Int16Builder:
		b.Append(int16(r.Uint32()))
	case *array.Int32Builder:
		b.Append(pick(r, math.MinInt32, math.MaxInt32, int32(r.Uint32())))
	case *array.Int64Builder:
		b.Append(pick(r, math.MinInt64, math.MaxInt64, 1<<53+1, int64(r.Uint64())))
	case *array.Float32Builder:
		b.Append(pick(r, 0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(-1)), 0.1, r.Float32()))
	case *array.Float64Builder:
		b.Append(pick(r, 0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64, 1e22, r.Float64()))
	case *array.Decimal128Builder:
		n := decimal128.FromI64(int64(r.Uint64()))
		b.Append(pick(r, n, n.Mul(decimal128.FromI64(1e18)), decimal128.FromI64(1)))
	case *array.StringBuilder:
		b.Append(pick(r, "", "~", "a,b", "]", "é😀", "\x1f", "null", "plain"))
	case *array.BinaryBuilder:
		b.Append(pick(r, []byte{}, []byte{0, 0xff}, []byte("text")))
	case *array.Date32Builder:
		b.Append(arrow.Date32(pick(r, -719162, 2932896, 0, r.Int32N(20000))))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(pick(r, -62135596800000000, 253402300799999999, -1, r.Int64N(1<<50))))
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func stream(t *testing.T, schema *arrow.Schema, records ...arrow.Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	for _, rec := range records {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// recordOf makes a record of columns from a JSON array of rows.
func recordOf(t *testing.T, columns []format.Column, rows string) (*arrow.Schema, arrow.Record) {
	t.Helper()
	var fields []arrow.Field
	for _, c := range columns {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.Type.ArrowType(), Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(rows), array.WithUseNumber())
	if err != nil {
		t.Fatal(err)
	}
	return s, rec
}

func contentOf(t *testing.T, schema *arrow.Schema, records ...arrow.Record) Content {
	t.Helper()
	c, err := ContentOf(schema, records)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPythonHashesEveryTypeAsGoDoes(t *testing.T) {
	venv := Readers(t)
	r := rand.New(rand.NewPCG(7, 7))
	schema := deltaTypes()
	a, b := randomRecord(r, schema, 500), randomRecord(r, schema, 500)
	out, err := venv.run(t.Context(), stream(t, schema, a, b, b.NewSlice(7, 300)), "hash_arrow.py")
	if err != nil {
		t.Fatal(err)
	}
	var got Answer
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := contentOf(t, schema, a, b, b.NewSlice(7, 300))
	if diff := cmp.Diff(want, Content{Rows: got.Rows, Schema: got.Schema, Hash: got.Hash}); diff != "" {
		t.Error(diff)
	}
}

// TestForeignReadersSeeWhatAForeignWriterWrote holds the whole way: each engine's columns, in its own Arrow layouts, give
// the hash that Go has of the records, at each version, and Check sees it when a version holds something else.
func TestForeignReadersSeeWhatAForeignWriterWrote(t *testing.T) {
	venv := Readers(t)
	r := rand.New(rand.NewPCG(8, 8))
	schema := deltaTypes()
	first, second := randomRecord(r, schema, 200), randomRecord(r, schema, 300)
	table := t.TempDir() + "/it's a table"
	versions := map[int64]Content{}
	var written []arrow.Record
	for i, rec := range []arrow.Record{first, second} {
		if _, err := venv.run(t.Context(), stream(t, schema, rec), "write_table.py", table); err != nil {
			t.Fatal(err)
		}
		written = append(written, rec)
		versions[int64(i)] = contentOf(t, schema, written...)
		Check(t, Table{Path: table, Versions: versions})
		for _, engine := range Engines() {
			newest, err := venv.Read(t.Context(), engine, Job{Table: table})
			if err != nil || newest[0].Hash != versions[int64(i)].Hash {
				t.Errorf("%s takes what it has read before for the newest version: %+v, %v", engine, newest, err)
			}
		}
	}
	oneColumn, err := ContentOf(schema, []arrow.Record{first}, "s", "i64")
	if err != nil {
		t.Fatal(err)
	}
	Check(t, Table{Path: table, Columns: []string{"s", "i64"}, Versions: map[int64]Content{0: oneColumn}})
}

func TestEngineThatRefusesATableAnswersAndGoesOn(t *testing.T) {
	venv := Readers(t)
	schema := deltaTypes()
	rec := randomRecord(rand.New(rand.NewPCG(9, 9)), schema, 10)
	table := t.TempDir()
	if _, err := venv.run(t.Context(), stream(t, schema, rec), "write_table.py", table); err != nil {
		t.Fatal(err)
	}
	for _, engine := range Engines() {
		answers, err := venv.Read(t.Context(), engine, Job{Table: table + "/none"}, Job{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		if answers[0].Error == "" || answers[1].Error != "" || answers[1].Rows != 10 {
			t.Errorf("%s: %+v", engine, answers)
		}
	}
}
