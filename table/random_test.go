package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
)

var leafKinds = []schema.Kind{
	schema.Boolean, schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Float, schema.Double, schema.Decimal,
	schema.String, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ,
}

func randomLeaf(r *rand.Rand) *schema.Type {
	k := leafKinds[r.IntN(len(leafKinds))]
	if k == schema.Decimal {
		p := 1 + r.IntN(38)
		return schema.DecimalOf(p, r.IntN(p+1))
	}
	return schema.Of(k)
}

func randomType(r *rand.Rand, depth int) *schema.Type {
	if depth == 0 || r.IntN(2) == 0 {
		return randomLeaf(r)
	}
	switch r.IntN(3) {
	case 0:
		return &schema.Type{Kind: schema.Array, Elem: randomType(r, depth-1), ContainsNull: r.IntN(4) > 0}
	case 1:
		return &schema.Type{Kind: schema.Map, Key: randomLeaf(r), Elem: randomType(r, depth-1), ContainsNull: r.IntN(4) > 0}
	default:
		return randomStruct(r, 1+r.IntN(3), depth-1)
	}
}

// randomStruct has field names whose order is not that of the alphabet.
func randomStruct(r *rand.Rand, n, depth int) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for i := range n {
		t.Fields = append(t.Fields, schema.Field{
			Name: fmt.Sprintf("%c%d", 'z'-rune(r.IntN(26)), i), Type: randomType(r, depth), Nullable: r.IntN(4) > 0,
		})
	}
	return t
}

var nastyStrings = []string{
	"", "a", "é", "😀", strings.Repeat("x", 32), strings.Repeat("x", 33), strings.Repeat("é", 40), strings.Repeat("😀", 17), strings.Repeat("z", 31) + "😀y",
	strings.Repeat("q", 32) + "\u007f", strings.Repeat("q", 32) + "\U0010ffff\U0010ffff!", strings.Repeat("\U0010ffff", 70), "quote\"back\\slash\x01\x7f\n",
}

var nastyFloats = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1e21, 1e-7, 5, -0.1}

func randomFloat(r *rand.Rand) float64 {
	if r.IntN(8) == 0 {
		return nastyFloats[r.IntN(len(nastyFloats))]
	}
	return r.NormFloat64() * 1000
}

func randomInt(r *rand.Rand, bits int) int64 {
	switch r.IntN(10) {
	case 0:
		return -1 << (bits - 1)
	case 1:
		return 1<<(bits-1) - 1
	case 2:
		return 0
	default:
		return r.Int64() >> (64 - bits) * int64(1-2*r.IntN(2))
	}
}

func randomString(r *rand.Rand) string {
	if r.IntN(5) == 0 {
		return nastyStrings[r.IntN(len(nastyStrings))]
	}
	b := make([]rune, r.IntN(50))
	for i := range b {
		b[i] = rune(32 + r.IntN(0x300))
	}
	return string(b)
}

func randomDecimal(r *rand.Rand, precision int) decimal128.Num {
	digits := make([]byte, 1+r.IntN(precision))
	for i := range digits {
		digits[i] = byte('0' + r.IntN(10))
	}
	v, err := parseDecimal([]string{"", "-"}[r.IntN(2)]+string(digits), 0)
	if err != nil {
		panic(err)
	}
	return v.(Decimal).Unscaled
}

// randomMicros stays within years 1 to 9999 but for a few.
func randomMicros(r *rand.Rand) int64 {
	if r.IntN(40) == 0 {
		return randomInt(r, 60)
	}
	return r.Int64N(8_000_000_000_000_000) - 4_000_000_000_000_000
}

func appendRandom(r *rand.Rand, t *schema.Type, nullable bool, b array.Builder) {
	if nullable && r.IntN(5) == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.Int8Builder:
		b.Append(int8(randomInt(r, 8)))
	case *array.Int16Builder:
		b.Append(int16(randomInt(r, 16)))
	case *array.Int32Builder:
		b.Append(int32(randomInt(r, 32)))
	case *array.Int64Builder:
		b.Append(randomInt(r, 64))
	case *array.Float32Builder:
		b.Append(float32(randomFloat(r)))
	case *array.Float64Builder:
		b.Append(randomFloat(r))
	case *array.Decimal128Builder:
		b.Append(randomDecimal(r, t.Precision))
	case *array.StringBuilder:
		b.Append(randomString(r))
	case *array.BinaryBuilder:
		b.Append([]byte{0xff, byte(r.IntN(256)), 0}[:r.IntN(4)])
	case *array.Date32Builder:
		b.Append(arrow.Date32(r.IntN(100_000) - 50_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(randomMicros(r)))
	case *array.MapBuilder:
		b.Append(true)
		for range randomItems(r) {
			appendRandom(r, t.Key, false, b.KeyBuilder())
			appendRandom(r, t.Elem, t.ContainsNull, b.ItemBuilder())
		}
	case *array.ListBuilder:
		b.Append(true)
		for range randomItems(r) {
			appendRandom(r, t.Elem, t.ContainsNull, b.ValueBuilder())
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range t.Fields {
			appendRandom(r, f.Type, f.Nullable, b.FieldBuilder(i))
		}
	default:
		panic(fmt.Sprintf("no random value for %T", b))
	}
}

// randomItems is how many items a list has: few, now and then more.
func randomItems(r *rand.Rand) int {
	if r.IntN(8) == 0 {
		return r.IntN(12)
	}
	return r.IntN(4)
}

func randomRecord(r *rand.Rand, t *schema.Type, rows int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.ArrowSchema())
	defer b.Release()
	for range rows {
		for i, f := range t.Fields {
			appendRandom(r, f.Type, f.Nullable, b.Field(i))
		}
	}
	return b.NewRecord()
}

// rowTexts is each row of a record as text in which every difference shows.
func rowTexts(rec arrow.Record) []string {
	rows := make([]string, rec.NumRows())
	for i := range rows {
		var s strings.Builder
		for c, column := range rec.Columns() {
			s.WriteString(rec.ColumnName(c) + "=" + cellText(column, i) + " ")
		}
		rows[i] = s.String()
	}
	return rows
}

func cellText(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	switch a := a.(type) {
	case *array.Null: // IsNull does not know
		return "null"
	case *array.Dictionary:
		return cellText(a.Dictionary(), a.GetValueIndex(i))
	case *array.Float32:
		return fmt.Sprintf("f%x", math.Float32bits(a.Value(i)))
	case *array.Float64:
		return fmt.Sprintf("d%x", math.Float64bits(a.Value(i)))
	case *array.Map:
		start, end := a.ValueOffsets(i)
		var s strings.Builder
		for k := start; k < end; k++ {
			s.WriteString(cellText(a.Keys(), int(k)) + ":" + cellText(a.Items(), int(k)) + ";")
		}
		return "{" + s.String() + "}"
	case *array.List:
		start, end := a.ValueOffsets(i)
		var s strings.Builder
		for k := start; k < end; k++ {
			s.WriteString(cellText(a.ListValues(), int(k)) + ";")
		}
		return "[" + s.String() + "]"
	case *schema.VariantArray:
		metadata, value := a.Value(i)
		return fmt.Sprintf("v%x:%x", metadata, value)
	case *array.Struct:
		var s strings.Builder
		for f := range a.NumField() {
			s.WriteString(cellText(a.Field(f), i) + ";")
		}
		return "(" + s.String() + ")"
	case *array.Timestamp:
		return fmt.Sprintf("t%d", a.Value(i))
	case *array.String:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.Binary:
		return fmt.Sprintf("b%x", a.Value(i))
	case *array.Decimal128:
		return a.Value(i).BigInt().String()
	default:
		return a.ValueStr(i)
	}
}

// newTestTable is a table in memory.
func newTestTable(t testing.TB, options Options) *Table {
	t.Helper()
	if options.AppID == "" {
		options.AppID = "test"
	}
	return New(newMemStore(), options)
}

// scanRows returns the rows of the newest version as texts.
func scanRows(t testing.TB, tbl *Table, options ScanOptions) []string {
	t.Helper()
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	return snapshotRows(t, snap, options)
}

func snapshotRows(t testing.TB, snap *Snapshot, options ScanOptions) []string {
	t.Helper()
	var rows []string
	err := snap.Scan(t.Context(), options, func(r arrow.Record) error {
		rows = append(rows, rowTexts(r)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// appendAll commits records as one batch.
func appendAll(t testing.TB, tbl *Table, batch int64, create *Create, records ...arrow.Record) Committed {
	t.Helper()
	a, err := tbl.Begin(t.Context(), create)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := a.Write(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	done, err := a.Commit(t.Context(), Batch{ID: batch})
	if err != nil {
		t.Fatal(err)
	}
	return done
}
