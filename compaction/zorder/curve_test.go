package zorder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// TestCurveGoesThroughEachPointByStepsOfOne walks along whole curves.
func TestCurveGoesThroughEachPointByStepsOfOne(t *testing.T) {
	for _, c := range []struct{ dimensions, bits int }{{1, 6}, {2, 1}, {2, 5}, {3, 3}, {4, 2}, {8, 1}} {
		points := make([][]uint32, 1<<(c.dimensions*c.bits))
		for n := range points {
			x := make([]uint32, c.dimensions)
			for i := range x {
				x[i] = uint32(n>>(i*c.bits)) & (1<<c.bits - 1)
			}
			key := hilbert(slices.Clone(x), c.bits)
			if key >= uint64(len(points)) || points[key] != nil {
				t.Fatalf("%+v: the key of %v is %d, as that of %v", c, x, key, points[min(key, uint64(len(points)-1))])
			}
			points[key] = x
		}
		for at := 1; at < len(points); at++ {
			steps := 0.0
			for i := range points[at] {
				steps += math.Abs(float64(points[at][i]) - float64(points[at-1][i]))
			}
			if steps != 1 {
				t.Fatalf("%+v: %v comes after %v", c, points[at], points[at-1])
			}
		}
	}
}

// TestPlacesAreInTheOrderOfValues has values in their order; those that are written together have one place.
func TestPlacesAreInTheOrderOfValues(t *testing.T) {
	long := strings.Repeat("x", mostOrdered)
	for kind, c := range map[arrow.DataType]string{
		arrow.FixedWidthTypes.Boolean:                  `null|false|true`,
		arrow.PrimitiveTypes.Int8:                      `null|-128|-1|0|127`,
		arrow.PrimitiveTypes.Int16:                     `null|-32768|-1|0|1|32767`,
		arrow.PrimitiveTypes.Int32:                     `null|-2147483648|-256|0|255|256`,
		arrow.PrimitiveTypes.Int64:                     `null|-9223372036854775808|-1|0|1|4611686018427387904`,
		arrow.PrimitiveTypes.Float32:                   `null|-3e38|-1.5|-0.0,0|1e-40|2.5|3e38`,
		arrow.PrimitiveTypes.Float64:                   `null|-1e300|-1|-5e-324|-0.0,0|5e-324|1|1e300`,
		arrow.BinaryTypes.String:                       `null|""|"\u0000"|"a"|"a\u0000"|"ab"|"` + long + `","` + long + `1"|"z"|"é"`,
		arrow.BinaryTypes.Binary:                       `null|""|"AA=="|"AAE="|"/w=="`,
		arrow.FixedWidthTypes.Date32:                   `null|"1969-12-31"|"1970-01-01"|"9999-12-31"`,
		arrow.FixedWidthTypes.Timestamp_us:             `null|"1969-12-31T23:59:59.999999Z"|"1970-01-01T00:00:00Z"|"2026-01-01T00:00:00Z"`,
		&arrow.Decimal128Type{Precision: 38, Scale: 2}: `null|"-100000000000000000000.00"|"-0.01"|"0.00"|"0.01"|"99999999999999999999999.99"`,
		&arrow.TimestampType{Unit: arrow.Microsecond}:  `null|"1969-12-31T23:59:59.999999"|"1970-01-01T00:00:00"`,
		&arrow.Decimal128Type{Precision: 4, Scale: 1}:  `null|"-99.9"|"0.0"|"99.9"`,
	} {
		order := strings.Split(c, "|")
		a, _, err := array.FromJSON(arrowmemory.DefaultAllocator, kind, strings.NewReader("["+strings.Join(order, ",")+"]"))
		if err != nil {
			t.Fatal(kind, err)
		}
		f := field{values: a, places: placesOf(a)}
		at := 0
		for i, values := range order {
			for n := range len(strings.Split(values, ",")) {
				switch {
				case n > 0 && f.place(at-1).compare(f.place(at)) != 0:
					t.Errorf("%s: %s have several places", kind, values)
				case n == 0 && i > 0 && (f.place(at-1).compare(f.place(at)) >= 0 || f.place(at).compare(f.place(at-1)) <= 0):
					t.Errorf("%s: %s is not behind %s", kind, values, order[i-1])
				}
				at++
			}
		}
	}
	b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	b.AppendValues([]float64{math.Inf(1), math.NaN(), math.Float64frombits(0xfff8000000000001)}, nil)
	if p := placesOf(b.NewArray()); p.at(0).compare(p.at(1)) >= 0 || p.at(1) != p.at(2) {
		t.Error("NaN is not behind all others, in one place")
	}
}

// placeOf is that of a text.
func placeOf(text string) place {
	p := placesOfTexts(1, func(int) []byte { return []byte(text) })
	return p.at(0)
}

func TestRanksAreSpreadOverAllThereAre(t *testing.T) {
	var values []place
	for i := range 1000 {
		values = append(values, placeOf(fmt.Sprintf("%03d", i)))
	}
	even := quantiles(values, 10)
	for value, want := range map[string]uint32{"": 0, "000": 0, "099": 0, "100": 0, "101": 1, "500": 4, "501": 5, "899": 8, "901": 9, "x": 9} {
		if got := even.rank(placeOf(value)); got != want {
			t.Errorf("rank of %q is %d, want %d", value, got, want)
		}
	}
	// Half of the values are the same, the others take the other half of the ranks.
	values = slices.Repeat([]place{placeOf("b")}, 500)
	for i := range 500 {
		values = append(values, placeOf(fmt.Sprintf("c%03d", i)))
	}
	skewed := quantiles(values, 10)
	if b, c, last := skewed.rank(placeOf("b")), skewed.rank(placeOf("c001")), skewed.rank(placeOf("c499")); b != 0 || c != 5 || last != 9 {
		t.Errorf("ranks %d, %d, %d", b, c, last)
	}
	if none := quantiles(nil, 10); none.rank(placeOf("x")) != 0 {
		t.Error("without a sample there is a rank")
	}
}

// TestRanksAreThoseOfADumbCount counts the bounds that are before each value, for texts with long and short beginnings in common, and nulls, in
// dictionaries and not.
func TestRanksAreThoseOfADumbCount(t *testing.T) {
	s := schemaOf(t, "struct<in:struct<s:string>>")
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		rows := make([]string, 200)
		for i := range rows {
			text := strings.Repeat("ab", r.IntN(8)) + []string{"", `\u0000`, "x"}[r.IntN(3)]
			rows[i] = []string{`{}`, `{"in":{}}`, `{"in":{"s":"` + text + `"}}`}[min(2, r.IntN(9))]
		}
		in := recordOf(t, s, rows, false).Column(0).(*array.Struct)
		for _, values := range []arrow.Array{in.Field(0), array.MakeFromData(indexed(t, in.Field(0).Data()))} {
			f := field{values: values, places: placesOf(values), around: []arrow.Array{in}}
			var all []place
			for row := range rows {
				all = append(all, f.place(row))
			}
			ranges := 1 + r.IntN(300)
			bounds := every(slices.SortedFunc(slices.Values(all), place.compare), ranges)
			b := quantiles(all, ranges)
			for row, got := range b.ranks(&f, len(rows)) {
				want := uint32(0)
				for _, bound := range bounds {
					if bound.compare(all[row]) < 0 {
						want++
					}
				}
				if got != want || b.rank(all[row]) != want {
					t.Fatalf("seed %d: %s has rank %d, and %d, of %d bounds, want %d", seed, rows[row], got, b.rank(all[row]), len(bounds), want)
				}
			}
		}
	}
}

// TestSampleIsOfAllRows counts how often rows of early and late records are in it.
func TestSampleIsOfAllRows(t *testing.T) {
	const records = 40
	s := newSample(1)
	for n := range records {
		b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		for range sampleRows / 8 {
			b.Append(int64(n))
		}
		a := b.NewArray()
		s.add(sampleRows/8, []field{{values: a, places: placesOf(a)}})
	}
	if n := len(s.values[0]); n != sampleRows {
		t.Fatalf("%d rows", n)
	}
	count := map[uint64]int{}
	for _, v := range s.values[0] {
		count[v.number]++
	}
	for _, n := range count {
		if n < sampleRows/records/2 || n > sampleRows/records*2 {
			t.Errorf("a record of %d has %d of %d rows", records, n, sampleRows)
		}
	}
	if len(count) != records {
		t.Errorf("%d records are in it", len(count))
	}
}
