package interop

import (
	"testing"

	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadClones holds what we read of shallow clones against what those read that follow absolute paths, and
// what is left of a clone after its compaction against all.
func TestForeignReadersReadClones(t *testing.T) {
	Readers(t)
	source := t.TempDir()
	store := tabletest.Local(t, source)
	create := &table.Create{
		Schema: tabletest.Columns(t, "struct<id:long,p:string>"), PartitionColumns: []string{"p"},
		Properties: map[string]string{"delta.enableDeletionVectors": "true"},
	}
	for batch, rows := range []string{`[{"id":1,"p":"a b"},{"id":2,"p":null}]`, `[{"id":3,"p":"a b"},{"id":4,"p":null},{"id":5,"p":null}]`} {
		tabletest.Commit(t, tabletest.Begin(t, table.New(store, table.Options{}), create, rows), batch)
	}
	var tables, compacted []Table
	for _, c := range []struct {
		scheme  string
		vector  bool
		refused map[string]string
	}{
		{"", false, nil},
		{"file://", true, map[string]string{"duckdb": "Cannot open file"}}, // which looks for them in the table's folder
		{"file:", true, map[string]string{"duckdb": "Cannot open file"}},
	} {
		if c.vector {
			tabletest.DeleteRow(t, store)
		}
		folder := t.TempDir()
		clone := tabletest.Local(t, folder)
		tabletest.Clone(t, store, clone, func(path string) string { return c.scheme + source + "/" + path })
		cloned := newest(t, clone)
		tables = append(tables, Table{Path: folder, Versions: map[int64]Content{0: Scanned(t, cloned)}, Refused: c.refused})
		last := compact(t, clone)
		compacted = append(compacted, Table{Path: folder, Versions: map[int64]Content{last.Version(): Scanned(t, last)}})
	}
	tables = append(tables, compacted...)
	Check(t, tables...)
	for i := range tables {
		tables[i].Refused = nil
	}
	CheckBy(t, "spark", tables...)
	CheckBy(t, "polars", compacted...)
	CheckBy(t, "chdb", compacted...)
}
