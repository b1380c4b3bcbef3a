package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/schema"
)

var safePath = regexp.MustCompile(`^([A-Za-z0-9._=/-]|%25[0-9A-F]{2})+$`)

func TestAnyStringNamesAPartition(t *testing.T) {
	values := []string{"é", "😀", "", "a/b", "a%2Fb", "a b", "..", ".", "_x", "2024-01-01 00:00:00", "\u0000\n", strings.Repeat("long", 100), nullFolder}
	for c := rune(32); c <= 126; c++ {
		values = append(values, string(c), "v"+string(c)+"w")
	}
	s := schema.StructOf(
		schema.Field{Name: "p", Type: schema.Of(schema.String), Nullable: true},
		schema.Field{Name: "n", Type: schema.Of(schema.Long), Nullable: true},
	)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	var want []string
	add := func(v *string, shown string, n int) {
		if v == nil {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(*v)
		}
		b.Field(1).(*array.Int64Builder).Append(int64(n))
		want = append(want, fmt.Sprintf("p=%s n=%d ", shown, n))
	}
	for round := range 2 {
		add(nil, "null", -round)
		for i, v := range values {
			shown := fmt.Sprintf("%q", v)
			if v == "" {
				shown = "null"
			}
			add(&v, shown, i+1000*round)
		}
	}
	tbl := newTestTable(t, Options{})
	appendAll(t, tbl, 0, &Create{Schema: s, PartitionColumns: []string{"p"}}, b.NewRecord())
	got := scanRows(t, tbl, ScanOptions{})
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, add := range seqtest.All(t, snap.State().Files.All(t.Context())) {
		if !safePath.MatchString(add.Path) || strings.HasPrefix(add.Path, "_") || strings.HasPrefix(add.Path, ".") {
			t.Errorf("path %q", add.Path)
		}
		value, ok := add.PartitionValues["p"]
		if !ok || value != nil && *value == "" {
			t.Errorf("partition values %v of %s", add.PartitionValues, add.Path)
		}
		if strings.Contains(add.Stats, `"p"`) {
			t.Errorf("a partition column has statistics: %s", add.Stats)
		}
		key := "null"
		if value != nil {
			key = "=" + *value
		}
		if seen[key] {
			t.Errorf("two files for partition %q", key)
		}
		seen[key] = true
	}
}

func TestPartitionValuesOfEveryType(t *testing.T) {
	dec := func(n int64) decimal128.Num { return decimal128.FromI64(n) }
	for _, tc := range []struct {
		typ    *schema.Type
		append func(b array.Builder)
		want   []string // as in the log
	}{
		{schema.Of(schema.Boolean), func(b array.Builder) { b.(*array.BooleanBuilder).AppendValues([]bool{true, false}, nil) }, []string{"true", "false"}},
		{schema.Of(schema.Byte), func(b array.Builder) { b.(*array.Int8Builder).AppendValues([]int8{-128, 127}, nil) }, []string{"-128", "127"}},
		{schema.Of(schema.Short), func(b array.Builder) { b.(*array.Int16Builder).AppendValues([]int16{-5}, nil) }, []string{"-5"}},
		{schema.Of(schema.Integer), func(b array.Builder) { b.(*array.Int32Builder).AppendValues([]int32{math.MaxInt32}, nil) }, []string{"2147483647"}},
		{schema.Of(schema.Long), func(b array.Builder) { b.(*array.Int64Builder).AppendValues([]int64{math.MinInt64}, nil) }, []string{"-9223372036854775808"}},
		{
			schema.Of(schema.Float), func(b array.Builder) { b.(*array.Float32Builder).AppendValues([]float32{0.1, 1e10, -0.5}, nil) },
			[]string{"0.1", "1.0E10", "-0.5"},
		},
		{
			schema.Of(schema.Double), func(b array.Builder) {
				b.(*array.Float64Builder).AppendValues([]float64{0, 1e7, 9999999, 0.001, 1.5e-4, math.Inf(1), math.Inf(-1), 1.7976931348623157e308}, nil)
			},
			[]string{"0.0", "1.0E7", "9999999.0", "0.001", "1.5E-4", "Infinity", "-Infinity", "1.7976931348623157E308"},
		},
		{
			schema.DecimalOf(10, 3), func(b array.Builder) {
				b.(*array.Decimal128Builder).AppendValues([]decimal128.Num{dec(1230), dec(-5), dec(0), dec(9999999999)}, nil)
			},
			[]string{"1.230", "-0.005", "0.000", "9999999.999"},
		},
		{
			schema.Of(schema.Date), func(b array.Builder) {
				b.(*array.Date32Builder).AppendValues([]arrow.Date32{0, -1, 18262, -719529, 3_000_000}, nil)
			},
			[]string{"1970-01-01", "1969-12-31", "2020-01-01", "-0001-12-31", "10183-09-21"},
		},
		{
			schema.Of(schema.Timestamp), func(b array.Builder) {
				b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{0, 1704164645123456, -1}, nil)
			},
			[]string{"1970-01-01T00:00:00.000000Z", "2024-01-02T03:04:05.123456Z", "1969-12-31T23:59:59.999999Z"},
		},
		{
			schema.Of(schema.TimestampNTZ), func(b array.Builder) {
				b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1704164645123456}, nil)
			},
			[]string{"2024-01-02 03:04:05.123456"},
		},
	} {
		t.Run(tc.typ.String(), func(t *testing.T) {
			s := schema.StructOf(schema.Field{Name: "p", Type: tc.typ, Nullable: true}, schema.Field{Name: "n", Type: schema.Of(schema.Long), Nullable: true})
			b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
			tc.append(b.Field(0))
			b.Field(0).AppendNull()
			b.Field(1).AppendNulls(b.Field(0).Len())
			rec := b.NewRecord()
			tbl := newTestTable(t, Options{})
			appendAll(t, tbl, 0, &Create{Schema: s, PartitionColumns: []string{"p"}}, rec)
			if diff := cmp.Diff(rowTexts(rec), scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Error(diff)
			}
			snap, err := tbl.Snapshot(t.Context(), Newest)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			adds := seqtest.All(t, snap.State().Files.All(t.Context()))
			for _, add := range adds[:len(adds)-1] {
				got = append(got, *add.PartitionValues["p"])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if last := adds[len(tc.want)]; last.PartitionValues["p"] != nil {
				t.Errorf("null is %q", *last.PartitionValues["p"])
			}
		})
	}
}

func TestPartitionValuesOfOtherWritersAreRead(t *testing.T) {
	for _, tc := range []struct {
		typ  string
		in   string
		want Value
	}{
		{"timestamp", "2024-01-02 03:04:05", int64(1704164645000000)},
		{"timestamp", "2024-01-02 03:04:05.1", int64(1704164645100000)},
		{"timestamp", "2024-01-02T03:04:05.123456Z", int64(1704164645123456)},
		{"timestamp", "2024-01-02T05:04:05+02:00", int64(1704164645000000)},
		{"timestamp_ntz", "2024-01-02 03:04:05.123456", int64(1704164645123456)},
		{"date", "2024-01-02", int64(19724)},
		{"date", "2024-02-29", int64(19782)},
		{"double", "1.0E7", 1e7},
		{"double", "NaN", math.NaN()},
		{"double", "-Infinity", math.Inf(-1)},
		{"boolean", "True", true},
		{"decimal(5,2)", "1.2", Decimal{decimal128.FromI64(120), 2}},
		{"decimal(5,2)", "1.2E+1", Decimal{decimal128.FromI64(1200), 2}},
		{"long", "", nil},
		{"string", "", nil},
	} {
		typ, err := schema.ParseDDL(tc.typ)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsePartition(typ, &tc.in)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s %q: got %v (%v), want %v", tc.typ, tc.in, got, err, tc.want)
		}
	}
	for _, tc := range [][2]string{{"long", "x"}, {"byte", "128"}, {"date", "2023-02-29"}, {"date", "nonsense"}, {"timestamp", "2024"}, {"decimal(5,2)", "1.234"}, {"decimal(5,2)", "1e999999999"}, {"decimal(5,2)", "1.-2"}, {"boolean", "si"}} {
		typ, err := schema.ParseDDL(tc[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parsePartition(typ, &tc[1]); err == nil {
			t.Errorf("%s %q is read as %v", tc[0], tc[1], got)
		}
	}
}

func TestTenThousandPartitionsStayWithinTheBudget(t *testing.T) {
	long(t)
	const partitions, rowsEach = 10_000, 4
	s := schema.StructOf(
		schema.Field{Name: "p", Type: schema.Of(schema.Integer), Nullable: true},
		schema.Field{Name: "n", Type: schema.Of(schema.Long), Nullable: true},
		schema.Field{Name: "text", Type: schema.Of(schema.String), Nullable: true},
	)
	const budget = 4 << 20
	tbl := newTestTable(t, Options{Memory: memoryOf(budget)})
	a, err := tbl.Begin(t.Context(), &Create{Schema: s, PartitionColumns: []string{"p"}})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	n := 0
	var largest int64
	for range partitions * rowsEach / 1000 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
		for range 1000 {
			b.Field(0).(*array.Int32Builder).Append(int32(r.IntN(partitions)))
			b.Field(1).(*array.Int64Builder).Append(int64(n))
			b.Field(2).(*array.StringBuilder).Append(strings.Repeat("x", 40))
			n++
		}
		rec := b.NewRecord()
		largest = max(largest, recordBytes(rec)+4*rec.NumRows())
		if err := a.Write(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
		if held := a.writer.retained + a.writer.buffered(); held > budget+largest {
			t.Fatalf("%d bytes are held", held)
		}
		if open := len(a.writer.open); open > 64 {
			t.Fatalf("%d files are open", open)
		}
	}
	if peak := tbl.options.Memory.Budget().Use()[0].Peak; peak > budget+largest {
		t.Errorf("at most %d bytes were held at once, of %d allowed", peak, budget)
	}
	done, err := a.Commit(t.Context(), Batch{})
	if err != nil {
		t.Fatal(err)
	}
	if done.Rows != int64(n) || done.Files < partitions*9/10 {
		t.Errorf("committed %+v", done)
	}
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	last := make(map[string]int64)
	seen := 0
	err = snap.Scan(t.Context(), ScanOptions{}, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			p, v := rec.Column(0).ValueStr(i), rec.Column(1).(*array.Int64).Value(i)
			if before, ok := last[p]; ok && before >= v {
				return fmt.Errorf("partition %s has row %d behind %d", p, v, before)
			}
			last[p] = v
			seen++
		}
		return nil
	})
	if err != nil || seen != n {
		t.Errorf("%d of %d rows: %v", seen, n, err)
	}
}

func TestBudgetOfNextToNothingIsEnough(t *testing.T) {
	s := parseSchema(t, "p:int,a:string,b:array<string>")
	tbl := newTestTable(t, Options{Memory: memoryOf(2)})
	rec := record(t, s, `[{"p":1,"a":"x","b":["y"]},{"p":2,"a":"z","b":[]},{"p":1,"a":null,"b":null}]`)
	appendAll(t, tbl, 0, &Create{Schema: s, PartitionColumns: []string{"p"}}, rec, rec)
	if rows := scanRows(t, tbl, ScanOptions{}); len(rows) != 6 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestOpenPartitionsGetOneFilePerBatch(t *testing.T) {
	s := schema.StructOf(schema.Field{Name: "p", Type: schema.Of(schema.Integer), Nullable: true}, schema.Field{Name: "n", Type: schema.Of(schema.Long), Nullable: true})
	tbl := newTestTable(t, Options{Memory: memoryOf(1 << 20)})
	a, err := tbl.Begin(t.Context(), &Create{Schema: s, PartitionColumns: []string{"p"}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
		for i := range 5000 {
			b.Field(0).(*array.Int32Builder).Append(int32(i % 3))
			b.Field(1).(*array.Int64Builder).Append(int64(n*5000 + i))
		}
		if err := a.Write(t.Context(), b.NewRecord()); err != nil {
			t.Fatal(err)
		}
	}
	done, err := a.Commit(t.Context(), Batch{})
	if err != nil {
		t.Fatal(err)
	}
	if done.Files != 3 || done.Rows != 500_000 {
		t.Errorf("committed %+v", done)
	}
	if n := len(scanRows(t, tbl, ScanOptions{})); n != 500_000 {
		t.Errorf("%d rows", n)
	}
}

func TestFilesEndAtTheTargetSize(t *testing.T) {
	long(t)
	s := schema.StructOf(schema.Field{Name: "n", Type: schema.Of(schema.Long), Nullable: true})
	tbl := newTestTable(t, Options{})
	r := rand.New(rand.NewPCG(3, 3))
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	for range 400_000 {
		b.Field(0).(*array.Int64Builder).Append(int64(r.Uint64()))
	}
	rec := b.NewRecord()
	done := appendAll(t, tbl, 0, &Create{Schema: s, Properties: map[string]string{targetSizeProperty: "1mb"}}, rec)
	if done.Files != 3 && done.Files != 4 {
		t.Errorf("%d files of %d bytes in all", done.Files, done.Bytes)
	}
	if diff := cmp.Diff(rowTexts(rec), scanRows(t, tbl, ScanOptions{})); diff != "" {
		t.Error("rows differ")
	}
	for i, key := range tbl.store.(*memStore).dataKeys() {
		if !regexp.MustCompile(fmt.Sprintf(`^part-%05d-[0-9a-f-]{36}\.c000\.snappy\.parquet$`, i)).MatchString(key) {
			t.Errorf("file %s", key)
		}
	}
}

func TestFoldersOfPartitions(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, tc := range []struct {
		columns []string
		values  []*string
		want    string // empty: a hashed one
	}{
		{[]string{"day"}, []*string{text("2024-01-01")}, "day=2024-01-01/"},
		{[]string{"day", "os"}, []*string{text("2024-01-01"), nil}, "day=2024-01-01/os=__HIVE_DEFAULT_PARTITION__/"},
		{[]string{"a b"}, []*string{text("x")}, "a%20b=x/"},
		{[]string{"_day"}, []*string{text("x")}, ""},
		{[]string{"p"}, []*string{text("a/b")}, "p=a%2Fb/"},
		{[]string{"p"}, []*string{text("50%=é")}, "p=50%25%3D%C3%A9/"},
		{[]string{"p"}, []*string{text("..")}, "p=../"},
		{[]string{"p"}, []*string{text(nullFolder)}, "p=%5F_HIVE_DEFAULT_PARTITION__/"},
		{[]string{"p"}, []*string{text(strings.Repeat("x", 200))}, ""},
	} {
		got := partitionFolder(tc.columns, tc.values)
		if tc.want == "" && !regexp.MustCompile(`^p-[0-9a-f]{12}/$`).MatchString(got) || tc.want != "" && got != tc.want {
			t.Errorf("%v: %s", tc.columns, got)
		}
		if again := partitionFolder(tc.columns, tc.values); again != got {
			t.Errorf("%s, then %s", got, again)
		}
	}
	if hashedFolder([]string{"a", "b"}, []*string{text("x"), nil}) == hashedFolder([]string{"a", "b"}, []*string{nil, text("x")}) {
		t.Error("null and value exchanged give the same folder")
	}
}
