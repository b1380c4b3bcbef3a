package table

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
)

func TestBloomFiltersHaveEachValueOfTheirRowGroup(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	s := parseSchema(t, "a:string,b:binary,c:byte,d:short,e:int,f:long,g:date,h:timestamp,i:timestamp_ntz,w:string,none:string,j:struct<k:string,l:long>,m:array<int>")
	filtered := "a, b,c,d,e,f,g,h,i,w,none,`j`.k,j.l"
	for _, encoding := range []string{"compatible", "compact"} {
		store := newMemStore()
		tbl := New(store, Options{Memory: memoryOf(1 << 20)})
		properties := map[string]string{bloomProperty: filtered, encodingProperty: encoding}
		a, err := tbl.Begin(t.Context(), &Create{Schema: s, Properties: properties})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			rec := randomRecord(r, s, 3000)
			few := wordsRecord(r, parseSchema(t, "w:string"), 3000, 20).Column(0)
			columns := append([]arrow.Array{}, rec.Columns()...)
			columns[9], columns[10] = few, array.MakeArrayOfNull(memory.DefaultAllocator, arrow.BinaryTypes.String, 3000)
			rec = array.NewRecord(rec.Schema(), columns, 3000)
			if err := a.Write(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.Commit(t.Context(), Batch{}); err != nil {
			t.Fatal(err)
		}
		if groups := checkFilters(t, store.objects[store.dataKeys()[0]]); groups < 2 {
			t.Errorf("%d row groups", groups)
		}
	}
}

// TestBloomFiltersOfRewrittenFilesAreWhole is about pages that are copied where there is no filter.
func TestBloomFiltersOfRewrittenFilesAreWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 42))
	s := parseSchema(t, "a:long,b:string,m:long")
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	for batch := range int64(2) {
		appendAll(t, tbl, batch, &Create{Schema: s, Properties: map[string]string{bloomProperty: "a,b"}}, randomRecord(r, s, 21_000))
	}
	before := store.dataKeys()
	rewriteAll(t, tbl)
	for _, key := range store.dataKeys() {
		if !slices.Contains(before, key) {
			checkFilters(t, store.objects[key])
		}
	}
}

// checkFilters checks those of a file, whose columns m and none have none, and returns the number of row groups.
func checkFilters(t *testing.T, body []byte) int {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.RowGroups() {
		for _, c := range g.ColumnChunks() {
			checkFilter(t, f.Schema().Columns()[c.Column()], c)
		}
	}
	return len(f.RowGroups())
}

// checkFilter looks up the values of a chunk in its filter, and others.
func checkFilter(t *testing.T, path []string, c parquet.ColumnChunk) {
	t.Helper()
	filter := c.BloomFilter()
	if filtered := path[0] != "m" && path[0] != "none"; (filter != nil) != filtered {
		t.Errorf("column %v: a filter, %v; want %v", path, filter != nil, filtered)
	}
	if filter == nil {
		return
	}
	pages := c.Pages()
	defer pages.Close()
	values := make([]parquet.Value, 1000)
	seen, passed := 0, 0
	for {
		page, err := pages.ReadPage()
		if err != nil {
			break
		}
		reader := page.Values()
		for {
			n, err := reader.ReadValues(values)
			for _, v := range values[:n] {
				if v.IsNull() {
					continue
				}
				if ok, err := filter.Check(v); !ok || err != nil {
					t.Fatalf("column %v: %v is not in the filter: %v", path, v, err)
				}
				other := parquet.ByteArrayValue([]byte("nobody's " + v.String()))
				seen++
				if ok, _ := filter.Check(other); ok {
					passed++
				}
			}
			if err != nil {
				break
			}
		}
	}
	if seen == 0 || passed > seen/20 {
		t.Errorf("column %v: %d of %d values that are not there pass", path, passed, seen)
	}
}

func TestBloomFiltersThatCannotBeAreRefused(t *testing.T) {
	s := parseSchema(t, "p:string,a:double,b:array<string>,c:decimal(9,2),d:struct<e:boolean>,ok:long")
	for names, message := range map[string]string{
		"nobody": "no such column", "ok,a": "of type double", "b": "of type array", "b.element": "no such column", "c": "of type decimal(9,2)", "d.e": "of type boolean",
		"d": "of type struct", "ok,,": "names \"\"", "p": "no such column",
	} {
		_, err := newTestTable(t, Options{}).Begin(t.Context(), &Create{Schema: s, PartitionColumns: []string{"p"}, Properties: map[string]string{bloomProperty: names}})
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", names, err, message)
		}
	}
}
