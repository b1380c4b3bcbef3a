package table

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/schema"
)

// fileStats writes the rows as one file and returns its statistics as JSON.
func fileStats(t testing.TB, s *schema.Type, properties map[string]string, records ...arrow.Record) map[string]any {
	t.Helper()
	tbl := newTestTable(t, Options{})
	appendAll(t, tbl, 0, &Create{Schema: s, Properties: properties}, records...)
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	adds := seqtest.All(t, snap.State().Files.All(t.Context()))
	if len(adds) != 1 {
		t.Fatalf("%d files", len(adds))
	}
	text := adds[0].Stats
	if strings.Contains(text, "null,") || strings.Contains(text, "null}") {
		t.Fatalf("statistics hold a null: %s", text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var stats map[string]any
	if err := d.Decode(&stats); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return stats
}

// oracle gathers by brute force what the statistics of a leaf are about.
type oracle struct {
	nulls  int64
	values []any // int64, float64, *big.Int, string
}

func (o *oracle) take(a arrow.Array, i int, present bool) {
	if !present || a.IsNull(i) {
		o.nulls++
		return
	}
	switch a := a.(type) {
	case *array.Int8:
		o.values = append(o.values, int64(a.Value(i)))
	case *array.Int16:
		o.values = append(o.values, int64(a.Value(i)))
	case *array.Int32:
		o.values = append(o.values, int64(a.Value(i)))
	case *array.Int64:
		o.values = append(o.values, a.Value(i))
	case *array.Date32:
		o.values = append(o.values, int64(a.Value(i)))
	case *array.Timestamp:
		o.values = append(o.values, int64(a.Value(i)))
	case *array.Float32:
		o.values = append(o.values, float64(a.Value(i)))
	case *array.Float64:
		o.values = append(o.values, a.Value(i))
	case *array.Decimal128:
		o.values = append(o.values, a.Value(i).BigInt())
	case *array.String:
		o.values = append(o.values, a.Value(i))
	}
}

func gather(all map[string]*oracle, path string, t *schema.Type, a arrow.Array, i int, present bool) {
	if t.Kind == schema.Struct {
		s := a.(*array.Struct)
		for f, field := range t.Fields {
			gather(all, join(path, field.Name), field.Type, s.Field(f), i, present && s.IsValid(i))
		}
		return
	}
	if all[path] == nil {
		all[path] = &oracle{}
	}
	all[path].take(a, i, present)
}

// at finds a dotted path in nested objects.
func at(section any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		m, ok := section.(map[string]any)
		if !ok {
			return nil, false
		}
		if section, ok = m[name]; !ok {
			return nil, false
		}
	}
	return section, true
}

func TestStatisticsAgreeWithBruteForce(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			s := randomStruct(r, 1+r.IntN(6), 2)
			first, second := randomRecord(r, s, 1+r.IntN(30)), randomRecord(r, s, r.IntN(10))
			stats := fileStats(t, s, map[string]string{"delta.dataSkippingNumIndexedCols": "-1"}, first, second)
			want := make(map[string]*oracle)
			for _, rec := range []arrow.Record{first, second} {
				for c, f := range s.Fields {
					for i := range int(rec.NumRows()) {
						gather(want, f.Name, f.Type, rec.Column(c), i, true)
					}
				}
			}
			if n := stats["numRecords"].(json.Number).String(); n != fmt.Sprint(first.NumRows()+second.NumRows()) {
				t.Errorf("numRecords %s", n)
			}
			for path, o := range want {
				if n, ok := at(stats["nullCount"], path); !ok || n.(json.Number).String() != fmt.Sprint(o.nulls) {
					t.Errorf("%s: nullCount %v, want %d", path, n, o.nulls)
				}
				low, hasLow := at(stats["minValues"], path)
				high, hasHigh := at(stats["maxValues"], path)
				checkBound(t, path, leafAt(s, path), o.values, low, hasLow, true)
				checkBound(t, path, leafAt(s, path), o.values, high, hasHigh, false)
			}
		})
	}
}

func leafAt(t *schema.Type, path string) *schema.Type {
	for _, name := range strings.Split(path, ".") {
		t = t.Fields[t.Index(name)].Type
	}
	return t
}

// checkBound holds a bound against all values: none may lie beyond, one must lie at or near it, and it may be absent only
// for a reason.
func checkBound(t *testing.T, path string, leaf *schema.Type, values []any, bound any, has, low bool) {
	t.Helper()
	var nan, infinite, oddYear, tight bool
	tight = len(values) == 0
	for _, v := range values {
		var order int // of the bound towards the value, > 0 when the bound is beyond it
		switch v := v.(type) {
		case int64:
			switch leaf.Kind {
			case schema.Date, schema.Timestamp, schema.TimestampNTZ:
				var micros, slack int64
				layout := map[schema.Kind]string{schema.Date: "2006-01-02", schema.Timestamp: "2006-01-02T15:04:05.000Z", schema.TimestampNTZ: "2006-01-02T15:04:05.000"}[leaf.Kind]
				stamp := time.UnixMicro(v).UTC()
				if leaf.Kind == schema.Date {
					stamp = time.Unix(v*86400, 0).UTC()
				} else {
					slack = 999
				}
				if y := stamp.Year(); y < 1 || y > 9998 {
					oddYear = true
				}
				if !has {
					continue
				}
				parsed, err := time.Parse(layout, bound.(string))
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				micros = parsed.UnixMicro() - stamp.UnixMicro()
				order = sign(micros)
				tight = tight || micros >= -slack && micros <= slack
			default:
				if has {
					n, err := bound.(json.Number).Int64()
					if err != nil {
						t.Fatalf("%s: %v", path, err)
					}
					order = compareInts(n, v)
					tight = tight || order == 0
				}
			}
		case float64:
			if v != v {
				nan = true
				continue
			}
			infinite = infinite || math.IsInf(v, 0)
			if has {
				n, err := bound.(json.Number).Float64()
				if err != nil || !strings.ContainsAny(string(bound.(json.Number)), ".e") {
					t.Fatalf("%s: %s %v", path, bound, err)
				}
				order = sign(n - v)
				tight = tight || order == 0
			}
		case *big.Int:
			if has {
				d, err := parseDecimal(bound.(json.Number).String(), leaf.Scale)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				order = d.(Decimal).Unscaled.BigInt().Cmp(v)
				tight = tight || order == 0
			}
		case string:
			if has {
				order = strings.Compare(bound.(string), v)
				tight = tight || order == 0 || strings.HasPrefix(v, bound.(string)) || len(v) > 32
			}
		}
		if has && (low && order > 0 || !low && order < 0) {
			t.Errorf("%s (%s): bound %v, low %v, is on the wrong side of %v", path, leaf, bound, low, v)
		}
	}
	switch {
	case has && len(values) == 0:
		t.Errorf("%s: bound %v without values", path, bound)
	case has && !tight:
		t.Errorf("%s: no value is near the bound %v", path, bound)
	case has && nan && !low:
		t.Errorf("%s: upper bound %v in spite of NaN", path, bound)
	case !has && len(values) > 0 && !nan && !infinite && !oddYear && !hopeless(values):
		t.Errorf("%s (%s): no bound, low %v, for %v", path, leaf, low, values)
	}
}

// hopeless says whether a string cannot be rounded up within twice the prefix.
func hopeless(values []any) bool {
	for _, v := range values {
		if s, ok := v.(string); ok && strings.HasPrefix(s, strings.Repeat("\U0010ffff", 33)) {
			return true
		}
	}
	return false
}

func sign[T int64 | float64](v T) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestStringBoundsAreRoundedOutwards(t *testing.T) {
	x32 := strings.Repeat("x", 32)
	top := "\U0010ffff"
	for name, tc := range map[string]struct{ in, low, high string }{
		"short":                {"abc", "abc", "abc"},
		"empty":                {"", "", ""},
		"exactly 32":           {x32, x32, x32},
		"33, ASCII next":       {x32 + "a", x32, x32 + "\u007f"},
		"33, DEL next":         {x32 + "\u007f", x32, x32 + top},
		"33, é next":           {x32 + "é", x32, x32 + top},
		"32 two-byte":          {strings.Repeat("é", 32), strings.Repeat("é", 32), strings.Repeat("é", 32)},
		"33 two-byte":          {strings.Repeat("é", 33), strings.Repeat("é", 32), strings.Repeat("é", 32) + top},
		"16 pairs":             {strings.Repeat("😀", 16), strings.Repeat("😀", 16), strings.Repeat("😀", 16)},
		"17 pairs":             {strings.Repeat("😀", 17), strings.Repeat("😀", 16), strings.Repeat("😀", 16) + top},
		"a pair across the 32": {x32[1:] + "😀", x32[1:], x32[1:] + top},
		"greatest next":        {x32 + top + "a", x32, x32 + top + "\u007f"},
		"greatest last":        {x32 + top, x32, x32 + top},
	} {
		t.Run(name, func(t *testing.T) {
			low, ok1 := minPrefix([]byte(tc.in), 32)
			high, ok2 := maxPrefix([]byte(tc.in), 32)
			if !ok1 || !ok2 || low != tc.low || high != tc.high {
				t.Errorf("got %q %v, %q %v", low, ok1, high, ok2)
			}
			if low > tc.in || high < tc.in {
				t.Errorf("%q is not within %q and %q", tc.in, low, high)
			}
		})
	}
	if _, ok := maxPrefix([]byte(strings.Repeat(top, 70)), 32); ok {
		t.Error("a bound for what cannot be rounded up")
	}
	if _, ok := minPrefix([]byte("a\xff"), 32); ok {
		t.Error("a bound from what is no UTF-8")
	}
}

func TestZerosAndNaNInStatistics(t *testing.T) {
	s := schema.StructOf(schema.Field{Name: "f", Type: schema.Of(schema.Double), Nullable: true})
	for name, tc := range map[string]struct {
		values    []float64
		low, high string
	}{
		"zero":         {[]float64{0}, "-0.0", "0.0"},
		"minus zero":   {[]float64{math.Copysign(0, -1)}, "-0.0", "0.0"},
		"NaN and one":  {[]float64{1, math.NaN()}, "1.0", ""},
		"only NaN":     {[]float64{math.NaN()}, "", ""},
		"infinities":   {[]float64{math.Inf(-1), 1, math.Inf(1)}, "", ""},
		"large, small": {[]float64{1e300, 1e-300}, "1e-300", "1e+300"},
	} {
		t.Run(name, func(t *testing.T) {
			b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
			b.Field(0).(*array.Float64Builder).AppendValues(tc.values, nil)
			stats := fileStats(t, s, nil, b.NewRecord())
			low, _ := at(stats["minValues"], "f")
			high, _ := at(stats["maxValues"], "f")
			if fmt.Sprint(low) != orNil(tc.low) || fmt.Sprint(high) != orNil(tc.high) {
				t.Errorf("got %v, %v", low, high)
			}
		})
	}
}

func orNil(s string) string {
	if s == "" {
		return "<nil>"
	}
	return s
}
