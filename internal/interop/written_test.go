package interop

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadEachEncodingAndCodec writes values of every type, at the edges of the types, as each table may ask
// for them, in files of many pages and of few rows.
func TestForeignReadersReadEachEncodingAndCodec(t *testing.T) {
	Readers(t)
	arrowSchema := deltaTypes()
	columns, err := schema.FromArrowSchema(arrowSchema)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(10, 10))
	records := []arrow.Record{randomRecord(r, arrowSchema, 20_500), randomRecord(r, arrowSchema, 3)}
	both := contentOf(t, arrowSchema, records...)
	var tables []Table
	for _, encoding := range []string{"compatible", "compact"} {
		for _, codec := range []string{"snappy", "zstd", "gzip", "uncompressed"} {
			path := filepath.Join(t.TempDir(), encoding+"-"+codec)
			written := table.New(local.New(path), table.Options{})
			for i, record := range records {
				a, err := written.Begin(t.Context(), &table.Create{Schema: columns, Properties: map[string]string{
					"sluice.parquet.encoding": encoding, "delta.parquet.compression.codec": codec,
				}})
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
			tables = append(tables, Table{Path: path, Versions: map[int64]Content{1: both}})
		}
	}
	Check(t, tables...)
}
