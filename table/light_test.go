package table

import (
	"bytes"
	"fmt"
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

// longsRecord has rows of one column of numbers, of which none tells anything of the others, or all are the same.
func longsRecord(r *rand.Rand, s *schema.Type, rows int, random bool) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	for range rows {
		n := int64(1) << 40
		if random {
			n = int64(r.Uint64())
		}
		b.Field(0).(*array.Int64Builder).Append(n)
	}
	return b.NewRecord()
}

// chunkCodecs are those of a file's first column, by row group.
func chunkCodecs(t *testing.T, body []byte) (codecs []format.CompressionCodec, pages int) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Metadata().RowGroups {
		codecs = append(codecs, g.Columns[0].MetaData.Codec)
		for _, e := range g.Columns[0].MetaData.EncodingStats {
			pages += int(e.Count)
		}
	}
	return codecs, pages
}

func TestAChunkIsStoredWhereSnappyHardlyShortensIt(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	longs, texts := parseSchema(t, "a:long"), parseSchema(t, "a:string")
	for name, c := range map[string]struct {
		schema *schema.Type
		record arrow.Record
		codec  string
		want   format.CompressionCodec
	}{
		"random":                 {longs, longsRecord(r, longs, 5000, true), "snappy", format.Uncompressed},
		"random, a small page":   {longs, longsRecord(r, longs, 3000, true), "snappy", format.Snappy},
		"the same":               {longs, longsRecord(r, longs, 5000, false), "snappy", format.Snappy},
		"numbers of texts":       {texts, wordsRecord(r, texts, 60_000, 9000), "snappy", format.Snappy},
		"texts that begin alike": {texts, wordsRecord(r, texts, 5000, 1<<40), "snappy", format.Snappy},
		"random, zstd":           {longs, longsRecord(r, longs, 5000, true), "zstd", format.Zstd},
		"random, gzip":           {longs, longsRecord(r, longs, 5000, true), "gzip", format.Gzip},
	} {
		got, _ := chunkCodecs(t, writtenFile(t, c.schema, map[string]string{codecProperty: c.codec}, c.record))
		if want := []format.CompressionCodec{c.want}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestAChunkThatIsStoredIsCompressedOnceThatPays has the file of a codec without a light form as the oracle.
func TestAChunkThatIsStoredIsCompressedOnceThatPays(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	s := parseSchema(t, "a:long")
	random, same := longsRecord(r, s, 17*sliceRows, true), longsRecord(r, s, 13*sliceRows, false)
	for name, c := range map[string]struct {
		records []arrow.Record
		stored  bool
	}{
		"never":                             {[]arrow.Record{random}, true},
		"on the page at which it is looked": {[]arrow.Record{random.NewSlice(0, 8*sliceRows), same}, false},
		"some pages before it is looked":    {[]arrow.Record{random.NewSlice(0, 12*sliceRows), same}, false},
		"on too few pages to see":           {[]arrow.Record{random, same.NewSlice(0, 4*sliceRows)}, true},
	} {
		properties := map[string]string{pageSizeProperty: "32kb"}
		l, err := newLayout(s, properties, engineName, newZstd())
		if err != nil {
			t.Fatal(err)
		}
		got := fileOf(t, l, c.records)
		if codecs, pages := chunkCodecs(t, got); pages < 16 || c.stored != (codecs[0] == format.Uncompressed) {
			t.Errorf("%s: %d pages of %v", name, pages, codecs)
		}
		l.codec.light = nil
		if heavy := fileOf(t, l, c.records); bytes.Equal(got, heavy) == c.stored {
			t.Errorf("%s: %d bytes, and %d when every page is compressed from the first on", name, len(got), len(heavy))
		}
		var want []string
		for _, rec := range c.records {
			want = append(want, rowTexts(rec)...)
		}
		if rows, err := readBytes(t, got, s); err != nil || !slices.Equal(rows, want) {
			t.Errorf("%s: other rows come back: %v", name, err)
		}
	}
}

// TestAColumnHasOneCodecInAFile is for readers that take it from the first row group, as parquet-go does.
func TestAColumnHasOneCodecInAFile(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 24))
	s := parseSchema(t, "a:long")
	random, same := longsRecord(r, s, 5*sliceRows, true), longsRecord(r, s, 5*sliceRows, false)
	for _, records := range [][]arrow.Record{{random, same, random}, {same, random, same}} {
		store := newMemStore()
		tbl, small := New(store, Options{}), map[string]string{pageSizeProperty: "32kb", groupSizeProperty: "128kb"}
		appendAll(t, tbl, 0, &Create{Schema: s, Properties: small}, records...)
		appendAll(t, tbl, 1, nil, records[1:]...)
		before := scanRows(t, tbl, ScanOptions{})
		rewriteAll(t, tbl)
		if diff := cmp.Diff(before, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Errorf("%.2000s", diff)
		}
		groups := 0
		for _, key := range store.dataKeys() {
			codecs, _ := chunkCodecs(t, store.objects[key])
			if groups += len(codecs); len(slices.Compact(codecs)) != 1 {
				t.Errorf("%s: %v", key, codecs)
			}
		}
		if files := len(store.dataKeys()); groups < 2*files {
			t.Errorf("%d row groups in %d files", groups, files)
		}
	}
}

// fileOf is a file of records.
func fileOf(t *testing.T, l *layout, records []arrow.Record) []byte {
	t.Helper()
	var body bytes.Buffer
	e := newEncoder(l, l.pageBytes, &workspace{})
	if err := e.begin(&body); err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		columns, err := bind(l.columns, rec)
		if err == nil {
			err = e.write(columns, allRows(int(rec.NumRows())), 8)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.end(); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// TestStoredAndCompressedFilesAreJoined copies pages of files whose chunks have the one codec and the other.
func TestStoredAndCompressedFilesAreJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	s := parseSchema(t, "a:string")
	file := map[byte]arrow.Record{'r': idsRecord(r, s, 5000, ""), 'p': idsRecord(r, s, 5000, fmt.Sprintf("%080d", 7))}
	for order, want := range map[string]format.CompressionCodec{
		"rr": format.Uncompressed, "pp": format.Snappy, "rrp": format.Snappy, "pr": format.Snappy, "rrprp": format.Snappy,
	} {
		store := newMemStore()
		tbl := New(store, Options{})
		for i := range order {
			appendAll(t, tbl, int64(i), &Create{Schema: s}, file[order[i]])
		}
		before := scanRows(t, tbl, ScanOptions{})
		copied := largePages(t, store, s, nil)
		rewriteAll(t, tbl)
		if diff := cmp.Diff(before, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Errorf("%s: %.2000s", order, diff)
		}
		body := store.objects[onlyAdd(t, tbl).Path]
		if codecs, pages := chunkCodecs(t, body); codecs[0] != want || pages != len(order) || len(copied) != len(order) {
			t.Errorf("%s: %d pages of %v, of %d large ones", order, pages, codecs, len(copied))
		}
	}
}

// idsRecord has random texts behind a prefix.
func idsRecord(r *rand.Rand, s *schema.Type, rows int, prefix string) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	for range rows {
		b.Field(0).(*array.StringBuilder).Append(prefix + randomHex(r) + randomHex(r))
	}
	return b.NewRecord()
}
