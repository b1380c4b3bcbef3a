package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

func TestHybridIsWhatOthersDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := 1; width <= 32; width++ {
		for range 50 {
			var values []uint32
			for range r.IntN(20) {
				values = appendRuns(values, r, width)
			}
			got, err := (&rle.DictionaryEncoding{}).DecodeInt32(nil, appendHybrid([]byte{byte(width)}, values, width))
			if err != nil {
				t.Fatal(err)
			}
			// What fills the last group up comes out as well.
			if len(got) < len(values) || len(got) > len(values)+7 || !slices.Equal(recast[int32](got[:len(values)]), converted[int32](values)) {
				t.Fatalf("width %d: %v comes back as %v", width, values, got)
			}
			if width <= 8 && !bytes.Equal(appendHybrid(nil, converted[uint8](values), width), appendHybrid(nil, values, width)) {
				t.Fatalf("width %d: %v is encoded in another way as bytes", width, values)
			}
		}
	}
	for width := range 33 {
		if b := appendHybrid(nil, make([]uint32, 1000), width); len(b) > 6 {
			t.Errorf("width %d: a thousand times the same takes %d bytes", width, len(b))
		}
	}
}

// converted are numbers as another type has them.
func converted[T, S uint8 | int32 | uint32 | int64 | uint64](values []S) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	return out
}

func TestDictionaryNumbersTextsInTheirOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	d := newDictionary()
	for range 3 {
		known := map[string]uint32{}
		for page := range 3 {
			fresh := map[string]bool{}
			for range 500 {
				text := fmt.Sprint(r.IntN(300 * (page + 1)))
				want, ok := known[text]
				if !ok {
					want = uint32(len(known))
					known[text] = want
				}
				number, first := d.add([]byte(text))
				if number != want || first == fresh[text] || string(d.text(number)) != text {
					t.Fatalf("%q: number %d (%q), want %d; the first of its page: %v", text, number, d.text(number), want, first)
				}
				fresh[text] = true
			}
			d.endPage()
		}
		d.reset()
	}
}

// TestRowsComeBackInEachEncodingAndCodec writes rows of all types, in pages and row groups of all sizes.
func TestRowsComeBackInEachEncodingAndCodec(t *testing.T) {
	s := parseSchema(t, "z:byte,y:short NOT NULL,x:int,w:long,v:float,u:double,t:decimal(9,2),s:decimal(18,0),r:decimal(38,10),q:string,p:binary,"+
		"o:date,n:timestamp,m:boolean,l:array<string>,k:map<string,array<int>>,j:struct<b:int,a:array<struct<c:string,d:timestamp_ntz>>>")
	r := rand.New(rand.NewPCG(3, 3))
	for _, encoding := range []string{"compatible", "compact"} {
		for _, codec := range []string{"snappy", "zstd", "lz4_raw", "gzip", "uncompressed"} {
			first, second := randomRecord(r, s, 1+r.IntN(mostRows)), randomRecord(r, s, 1+r.IntN(300))
			body := writtenFile(t, s, map[string]string{encodingProperty: encoding, codecProperty: codec}, first, second)
			got, err := readBytes(t, body, s)
			if err != nil || !slices.Equal(got, append(rowTexts(first), rowTexts(second)...)) {
				t.Errorf("%s, %s: rows differ: %v", encoding, codec, err)
			}
		}
	}
}

// TestSlicesOfRecordsMakeTheSameFiles writes records that begin and end within the bytes of bitmaps.
func TestSlicesOfRecordsMakeTheSameFiles(t *testing.T) {
	s := parseSchema(t, "m:boolean,n:boolean NOT NULL,x:int,u:double,q:string,l:array<boolean>,k:map<string,array<int>>,j:struct<b:boolean,a:array<long>>")
	rec := randomRecord(rand.New(rand.NewPCG(13, 13)), s, 5000)
	want := writtenFile(t, s, nil, rec)
	if !bytes.Equal(writtenFile(t, s, nil, slicesOf(rec, 3, 16, 17, 700, 2111, 4997)...), want) {
		t.Error("the file is another than that of the whole record")
	}
}

func TestCompactEncodingStoresDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	numbers, texts := parseSchema(t, "a:int,b:long,c:timestamp,e:date"), parseSchema(t, "d:string")
	for _, c := range []struct {
		schema *schema.Type
		record arrow.Record
		want   format.Encoding
	}{
		{numbers, numbersRecord(r, numbers, 5000, 1<<20), format.DeltaBinaryPacked},
		{texts, randomRecord(r, texts, 5000), format.DeltaLengthByteArray},
	} {
		body := writtenFile(t, c.schema, map[string]string{encodingProperty: "compact"}, c.record)
		for column, got := range dataPages(t, body) {
			if !slices.Equal(got, []format.Encoding{c.want}) {
				t.Errorf("column %s: pages are %v, want %v", column, got, c.want)
			}
		}
	}
}

func TestTextsAreInADictionaryWhenFewAreDifferent(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	s := parseSchema(t, "a:string")
	first, rest := wordsRecord(r, s, 6000, 1<<40), wordsRecord(r, s, 14_000, 5)
	for name, c := range map[string]struct {
		records []arrow.Record
		want    format.Encoding
	}{
		"no two the same at first":        {[]arrow.Record{first, rest}, format.Plain},
		"some the same from the first on": {[]arrow.Record{wordsRecord(r, s, 20_000, 5000)}, format.RLEDictionary},
		"most different in the page":      {[]arrow.Record{wordsRecord(r, s, 20_000, 20_000)}, format.Plain},
	} {
		body := writtenFile(t, s, nil, c.records...)
		f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Metadata().RowGroups[0].Columns[0].MetaData.EncodingStats; got[0].PageType != format.DataPage || got[0].Encoding != c.want {
			t.Errorf("%s: pages %v, want %v", name, got, c.want)
		}
	}
}

func TestRowGroupsAndPagesEndWhereTheTableSays(t *testing.T) {
	s := parseSchema(t, "a:long,b:string")
	rec := randomRecord(rand.New(rand.NewPCG(8, 8)), s, 20_000)
	count := func(properties map[string]string) (groups, pages int) {
		body := writtenFile(t, s, properties, rec)
		f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.RowGroups() {
			index, err := g.ColumnChunks()[0].OffsetIndex()
			if err != nil {
				t.Fatal(err)
			}
			pages += index.NumPages()
		}
		return len(f.RowGroups()), pages
	}
	if groups, pages := count(nil); groups != 1 || pages != 1 {
		t.Errorf("%d row groups, %d pages", groups, pages)
	}
	if groups, pages := count(map[string]string{groupSizeProperty: "256kb", pageSizeProperty: "16kb"}); groups < 2 || groups > 6 || pages != 5 {
		t.Errorf("%d row groups, %d pages of a slice of rows each", groups, pages)
	}
	for property, value := range map[string]string{groupSizeProperty: "none", pageSizeProperty: "17mb"} {
		if err := (&Create{Schema: s, Properties: map[string]string{property: value}}).Check(); err == nil {
			t.Errorf("%s: %s is taken", property, value)
		}
	}
}

// TestADictionaryIsTriedAgainAfterManyTexts writes file after file with one encoder, as appends to one table do.
func TestADictionaryIsTriedAgainAfterManyTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	s := parseSchema(t, "a:string")
	l, err := newLayout(s, nil, "", newZstd())
	if err != nil {
		t.Fatal(err)
	}
	e := newEncoder(l, filePageBytes, &workspace{})
	inDictionary := func(rows, different int) bool {
		t.Helper()
		rec := wordsRecord(r, s, rows, different)
		columns, err := bind(l.columns, rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.begin(io.Discard), e.write(columns, allRows(rows), 44)); err != nil {
			t.Fatal(err)
		}
		if _, err := e.end(); err != nil {
			t.Fatal(err)
		}
		return slices.Contains(e.groups[0].chunks[0].chunk.MetaData.Encoding, format.RLEDictionary)
	}
	for _, c := range []struct {
		what            string
		rows, different int
		want            bool
	}{
		{"few rows, all different", 5, 1 << 40, false},
		{"which told nothing", 3000, 5, true},
		{"many rows, all different", 3000, 1 << 40, false},
		{"after which nobody looks", 2 * manyTexts, 5, false},
		{"until many have gone by", 3000, 5, true},
	} {
		if got := inDictionary(c.rows, c.different); got != c.want {
			t.Errorf("%s: in a dictionary: %v", c.what, got)
		}
	}
}
