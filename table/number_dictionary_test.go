package table

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

// numbersRecord has in each column, which is of a type of numbers, so many different values, and a null in ten.
func numbersRecord(r *rand.Rand, s *schema.Type, rows, different int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	for range rows {
		for i := range s.Fields {
			n := r.IntN(different)
			if r.IntN(10) == 0 {
				b.Field(i).AppendNull()
				continue
			}
			switch b := b.Field(i).(type) {
			case *array.Int8Builder:
				b.Append(int8(n))
			case *array.Int16Builder:
				b.Append(int16(n))
			case *array.Int32Builder:
				b.Append(int32(n) * 100_003)
			case *array.Date32Builder:
				b.Append(arrow.Date32(n))
			case *array.Int64Builder:
				b.Append(int64(n) * math.MaxUint32)
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(n) * 1_000_003)
			case *array.ListBuilder:
				b.Append(true)
				for range n % 4 {
					b.ValueBuilder().(*array.Int64Builder).Append(int64(n))
				}
			case *array.Float32Builder:
				b.Append([]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(n)}[min(n, 3)])
			case *array.Float64Builder:
				b.Append([]float64{0, math.Copysign(0, -1), math.NaN(), float64(n)}[min(n, 3)])
			}
		}
	}
	return b.NewRecord()
}

const allNumbers = "z:byte,y:short,x:int,w:date,v:long,u:timestamp,t:timestamp_ntz,s:float,r:double"

// dataPages are the encodings of a file's data pages, by column, in the order in which they were first there.
func dataPages(t *testing.T, body []byte) map[string][]format.Encoding {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]format.Encoding{}
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			for _, s := range c.MetaData.EncodingStats {
				if s.PageType == format.DataPage {
					pages[c.MetaData.PathInSchema[0]] = append(pages[c.MetaData.PathInSchema[0]], s.Encoding)
				}
			}
		}
	}
	return pages
}

func TestNumbersAreInADictionaryWhenFewAreDifferent(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	s := parseSchema(t, allNumbers)
	long := parseSchema(t, "v:long")
	many, few := numbersRecord(r, long, 3000, 1<<40), numbersRecord(r, long, 20_000, 100)
	for name, c := range map[string]struct {
		schema  *schema.Type
		records []arrow.Record
		compact bool
		want    []format.Encoding // of each column
	}{
		"a hundred":                 {s, []arrow.Record{numbersRecord(r, s, 5000, 100)}, false, []format.Encoding{format.RLEDictionary}},
		"one":                       {s, []arrow.Record{numbersRecord(r, s, 5000, 1)}, false, []format.Encoding{format.RLEDictionary}},
		"a hundred, compact":        {long, []arrow.Record{few.NewSlice(0, 5000)}, true, []format.Encoding{format.RLEDictionary}},
		"as short by differences":   {long, []arrow.Record{numbersRecord(r, long, 200, 1)}, true, []format.Encoding{format.DeltaBinaryPacked}},
		"hardly any twice":          {long, []arrow.Record{many, few.NewSlice(0, 5000)}, false, []format.Encoding{format.Plain}},
		"hardly any twice, compact": {long, []arrow.Record{many, few.NewSlice(0, 5000)}, true, []format.Encoding{format.DeltaBinaryPacked}},
		"too many":                  {long, []arrow.Record{numbersRecord(r, long, 20_000, 6000)}, false, []format.Encoding{format.Plain}},
		"too few rows":              {long, []arrow.Record{numbersRecord(r, long, 10, 1)}, false, []format.Encoding{format.Plain}},
		"too many at last":          {long, []arrow.Record{few, numbersRecord(r, long, 20_000, 1<<40)}, false, []format.Encoding{format.RLEDictionary, format.Plain}},
	} {
		properties := map[string]string{}
		if c.compact {
			properties[encodingProperty] = "compact"
		}
		body := writtenFile(t, c.schema, properties, c.records...)
		for column, got := range dataPages(t, body) {
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: pages of column %s are %v, want %v", name, column, got, c.want)
			}
		}
		var want []string
		for _, rec := range c.records {
			want = append(want, rowTexts(rec)...)
		}
		if rows, err := readBytes(t, body, c.schema); err != nil || !slices.Equal(rows, want) {
			t.Errorf("%s: other rows come back: %v", name, err)
		}
	}
}

// TestNumberDictionaryIsOneByHand has a list in which each number is looked for from the first on as the oracle.
func TestNumberDictionaryIsOneByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 42))
	d, work := newNumberDictionary[float64](), &pageWork{}
	for group := range 6 {
		var known []uint64
		for page := range 3 {
			values := make([]float64, 1+r.IntN(2000))
			for i := range values {
				values[i] = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), float64(r.IntN(300 * (page + 1)))}[min(r.IntN(30), 4)]
			}
			var want []uint32
			for _, v := range values {
				at := slices.Index(known, math.Float64bits(v))
				if at < 0 {
					at = len(known)
					known = append(known, math.Float64bits(v))
				}
				want = append(want, uint32(at))
			}
			work.body = append(work.body[:0], "levels"...)
			if !d.encode(work, values, func() int { return math.MaxInt }) {
				t.Fatalf("row group %d, page %d: no dictionary of %d values", group, page, len(known))
			}
			body := work.body[len("levels"):]
			got, err := decodeHybrid([]uint32(nil), body[1:], int(body[0]), len(values))
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("row group %d, page %d: other numbers: %v", group, page, err)
			}
			if page, n := d.dictionary(); n != len(known) || !bytes.Equal(page, plain(converted[int64](known))) {
				t.Fatalf("row group %d: the dictionary has %d values, and not the %d in their order", group, n, len(known))
			}
		}
		d.endGroup()
	}
}

// TestFilesWithDictionariesOfNumbersAreJoined has the rows before as the oracle: files of few numbers, of many, and of some that are too many together.
func TestFilesWithDictionariesOfNumbersAreJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 43))
	s := parseSchema(t, "y:short,v:long,r:double,l:array<long>")
	file := map[byte]arrow.Record{
		'f': numbersRecord(r, s, 1000, 50), 'm': numbersRecord(r, s, 3000, 1<<40), 's': numbersRecord(r, s, 6000, 2000), 't': numbersRecord(r, s, 6000, 1<<13),
	}
	for _, encoding := range []string{"compatible", "compact"} {
		for _, order := range []string{"fmf", "st", "tsf"} {
			tbl := New(newMemStore(), Options{})
			for i := range order {
				appendAll(t, tbl, int64(i), &Create{Schema: s, Properties: map[string]string{encodingProperty: encoding, bloomProperty: "v"}}, file[order[i]])
			}
			before := scanRows(t, tbl, ScanOptions{})
			rewriteAll(t, tbl)
			if diff := cmp.Diff(before, scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Errorf("%s, %s: %.2000s", encoding, order, diff)
			}
		}
	}
}

// TestDictionariesOfNumbersAreSmaller compares with files whose row groups have given dictionaries up.
func TestDictionariesOfNumbersAreSmaller(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 44))
	s := parseSchema(t, "v:long")
	for _, different := range []int{2, 100, 4000} {
		rec := numbersRecord(r, s, 30_000, different)
		few := len(writtenFile(t, s, nil, rec))
		direct := len(writtenFile(t, s, nil, append([]arrow.Record{numbersRecord(r, s, 2000, 1<<40)}, rec)...))
		if few >= direct {
			t.Errorf("%d different numbers: %d bytes with a dictionary, %d without", different, few, direct)
		}
	}
}
