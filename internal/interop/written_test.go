package interop

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadEachEncodingAndCodec writes values of every type, at the edges of the types, as each table may ask
// for them, in files of many pages and of few rows. ClickHouse has no null lists, maps and structs: it is asked for the
// version without such.
func TestForeignReadersReadEachEncodingAndCodec(t *testing.T) {
	Readers(t)
	arrowSchema := deltaTypes()
	columns, err := schema.FromArrowSchema(arrowSchema)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(10, 10))
	appends := []arrow.Record{
		withoutNullNests(r, arrowSchema, 1500), randomRecord(r, arrowSchema, 20_500), randomRecord(r, arrowSchema, 3),
		repeated(t, randomRecord(r, arrowSchema, 40), 50), // numbers and texts are in dictionaries
	}
	first, last := contentOf(t, arrowSchema, appends[0]), contentOf(t, arrowSchema, appends...)
	var tables, ofClickHouse []Table
	for _, encoding := range []string{"compatible", "compact"} {
		for _, codec := range []string{"snappy", "zstd", "lz4_raw", "gzip", "uncompressed"} {
			path := filepath.Join(t.TempDir(), encoding+"-"+codec)
			writeTable(t, path, &table.Create{Schema: columns, Properties: map[string]string{
				"sluice.parquet.encoding": encoding, "delta.parquet.compression.codec": codec,
			}}, appends)
			tables = append(tables, Table{Path: path, Versions: map[int64]Content{3: last}})
			ofClickHouse = append(ofClickHouse, Table{Path: path, Versions: map[int64]Content{0: first}})
		}
	}
	Check(t, tables...)
	CheckBy(t, "spark", tables...)
	CheckBy(t, "polars", tables...)
	CheckBy(t, "chdb", ofClickHouse...)
}

// repeated is a record with all of its rows so many times.
func repeated(t *testing.T, rec arrow.Record, times int) arrow.Record {
	t.Helper()
	var columns []arrow.Array
	for _, c := range rec.Columns() {
		all, err := array.Concatenate(slices.Repeat([]arrow.Array{c}, times), memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, all)
	}
	return array.NewRecord(rec.Schema(), columns, rec.NumRows()*int64(times))
}

// writeTable makes a table with a version for each record.
func writeTable(t *testing.T, path string, create *table.Create, appends []arrow.Record) {
	t.Helper()
	written := table.New(local.New(path), table.Options{})
	for i, record := range appends {
		a, err := written.Begin(t.Context(), create)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Write(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Commit(t.Context(), table.Batch{ID: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
}
