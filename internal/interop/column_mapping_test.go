package interop

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadTablesWithColumnMapping appends to tables whose columns are known by physical names and by ids, and
// compacts them. Polars says that it has no such feature; ClickHouse loses structs in lists and maps there, and is asked for the rest.
func TestForeignReadersReadTablesWithColumnMapping(t *testing.T) {
	Readers(t)
	arrowSchema := deltaTypes()
	columns, err := schema.FromArrowSchema(arrowSchema)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(11, 11))
	records := []arrow.Record{randomRecord(r, arrowSchema, 200), randomRecord(r, arrowSchema, 50)}
	both := contentOf(t, arrowSchema, records...)
	var flat []string
	for _, f := range arrowSchema.Fields() {
		if !arrow.IsNested(f.Type.ID()) {
			flat = append(flat, f.Name)
		}
	}
	ofFlat, err := ContentOf(arrowSchema, records, flat...)
	if err != nil {
		t.Fatal(err)
	}
	var tables, ofClickHouse []Table
	for _, mode := range []string{"name", "id"} {
		path := filepath.Join(t.TempDir(), mode)
		writeTable(t, path, &table.Create{Schema: columns, Properties: map[string]string{"delta.columnMapping.mode": mode}}, records)
		compact(t, tabletest.Local(t, path))
		tables = append(tables, Table{
			Path: path, Versions: map[int64]Content{0: contentOf(t, arrowSchema, records[0]), 1: both, 2: both}, Refused: map[string]string{"polars": "columnMapping"},
		})
		ofClickHouse = append(ofClickHouse, Table{Path: path, Columns: flat, Versions: map[int64]Content{1: ofFlat, 2: ofFlat}})
	}
	Check(t, tables...)
	CheckBy(t, "spark", tables...)
	CheckBy(t, "polars", tables...)
	CheckBy(t, "chdb", ofClickHouse...)
}

// TestDeltaRSReadsPartitionsUnderColumnMapping does not ask DuckDB, which takes one partition column for another there.
func TestDeltaRSReadsPartitionsUnderColumnMapping(t *testing.T) {
	venv := Readers(t)
	arrowSchema := deltaTypes()
	columns, err := schema.FromArrowSchema(arrowSchema)
	if err != nil {
		t.Fatal(err)
	}
	record := randomRecord(rand.New(rand.NewPCG(12, 12)), arrowSchema, 60)
	path := filepath.Join(t.TempDir(), "partitioned")
	create := &table.Create{Schema: columns, PartitionColumns: []string{"b", "d"}, Properties: map[string]string{"delta.columnMapping.mode": "name"}}
	writeTable(t, path, create, []arrow.Record{record, record})
	compact(t, tabletest.Local(t, path))
	tables := []Table{{Path: path, Versions: map[int64]Content{2: contentOf(t, arrowSchema, record, record)}}}
	check(t, venv, []string{"deltalake"}, tables)
	CheckBy(t, "spark", tables...)
}
