package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// numberRows are rows of a table of numbers, of which some are null, and too many different for a dictionary.
func numberRows(t *testing.T, r *rand.Rand, s *schema.Type, rows int, nulls bool) arrow.Record {
	var texts []string
	for i := range rows {
		maybe := "null"
		if !nulls && i%5 > 0 {
			maybe = fmt.Sprint(r.IntN(1000))
		}
		texts = append(texts, fmt.Sprintf(`{"n":%d,"d":%s.25,"maybe":%s,"p":"%d.25","q":"%d.5","w":"%d.12345","s":{"day":"%d-%02d-%02d"}}`, 1e9+r.Int64N(1e6), fmt.Sprint(r.IntN(500)-250), maybe,
			r.IntN(2e6)-1e6, r.Int64N(2e12)-1e12, r.Int64N(2e18)-1e18, 1970+r.IntN(60), 1+r.IntN(12), 1+r.IntN(28)))
	}
	return record(t, s, "["+strings.Join(texts, ",")+"]")
}

// pagesOf is how many pages a file's first column has.
func pagesOf(t *testing.T, body []byte) int {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	index, err := f.RowGroups()[0].ColumnChunks()[0].OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	return index.NumPages()
}

// TestPagesOfNumbersAreJoinedAsTheyAreCompressed looks for what the sources' pages have behind their levels in the rewritten file,
// among which there are pages of nulls, and pages of another codec, which have to be decoded.
func TestPagesOfNumbersAreJoinedAsTheyAreCompressed(t *testing.T) {
	for _, other := range []string{"snappy", "gzip"} {
		t.Run(other+" between", func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 3))
			store := newMemStore()
			tbl, whole := New(store, Options{AppID: "test"}), newTestTable(t, Options{})
			s := parseSchema(t, "n:long,d:double,maybe:int,p:decimal(9,2),q:decimal(18,4),w:decimal(30,5),s:struct<day:date>")
			create := &Create{Schema: s}
			a, err := whole.Begin(t.Context(), create)
			if err != nil {
				t.Fatal(err)
			}
			for batch := range int64(7) {
				rec := numberRows(t, r, s, 700, batch == 2)
				appendAll(t, tbl, batch, create, rec)
				if err := a.Write(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
				if batch == 3 {
					store.objects[filesOf(t, newestOf(t, store))[batch].Path] = writtenFile(t, s, map[string]string{codecProperty: other}, rec)
				}
			}
			if _, err := a.Commit(t.Context(), Batch{}); err != nil {
				t.Fatal(err)
			}
			before := scanRows(t, tbl, ScanOptions{})
			parts := valuesOf(t, store, s)
			rewriteAll(t, tbl)
			if diff := cmp.Diff(before, scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Fatalf("%.2000s", diff)
			}
			add := onlyAdd(t, tbl)
			if want := onlyAdd(t, whole).Stats; add.Stats != want {
				t.Errorf("statistics %s\nwant       %s", add.Stats, want)
			}
			body, found := store.objects[add.Path], 0
			for _, part := range parts {
				if bytes.Contains(body, part) {
					found++
				}
			}
			pages, joined := 1, len(parts)
			if other != "snappy" {
				pages, joined = 2, 3*7-1 // up to the first that is decoded, but for the nulls
			}
			if found < joined || pagesOf(t, body) != pages {
				t.Errorf("%d of %d pages are joined, %d are wanted; %d pages come of it, want %d", found, len(parts), joined, pagesOf(t, body), pages)
			}
		})
	}
}

// valuesOf are the values of all pages of Snappy, compressed.
func valuesOf(t *testing.T, store *memStore, s *schema.Type) [][]byte {
	t.Helper()
	layout, err := newLayout(s, nil, engineName, codec{})
	if err != nil {
		t.Fatal(err)
	}
	var (
		parts   [][]byte
		opener  sourceOpener
		decoder pageDecoder
	)
	for _, key := range store.dataKeys() {
		f, err := opener.open(layout, place{}, memObject{bytes.NewReader(store.objects[key])})
		if err != nil || f == nil {
			t.Fatal(f, err)
		}
		for i, l := range layout.leaves {
			c, err := f.chunk(0, i, l, &decoder)
			if err == nil {
				err = c.each(func(p *sourcePage) error {
					if cut, ok := cutSnappy(p.body, true, nil, nil); ok && cut.size > 0 {
						parts = append(parts, cut.elements)
					}
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return parts
}
