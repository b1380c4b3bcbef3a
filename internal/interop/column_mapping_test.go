package interop

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadTablesWithColumnMapping appends to tables whose columns are known by physical names and by ids, and
// compacts them.
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
	var tables []Table
	for _, mode := range []string{"name", "id"} {
		path := filepath.Join(t.TempDir(), mode)
		written := table.New(local.New(path), table.Options{})
		for i, record := range records {
			a, err := written.Begin(t.Context(), &table.Create{Schema: columns, Properties: map[string]string{"delta.columnMapping.mode": mode}})
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
		compact(t, written)
		tables = append(tables, Table{Path: path, Versions: map[int64]Content{0: contentOf(t, arrowSchema, records[0]), 1: both, 2: both}})
	}
	Check(t, tables...)
	CheckOnDemand(t, "spark", tables...)
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
	written := table.New(local.New(path), table.Options{})
	create := &table.Create{Schema: columns, PartitionColumns: []string{"b", "d"}, Properties: map[string]string{"delta.columnMapping.mode": "name"}}
	for batch := range int64(2) {
		a, err := written.Begin(t.Context(), create)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Write(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Commit(t.Context(), table.Batch{ID: batch}); err != nil {
			t.Fatal(err)
		}
	}
	compact(t, written)
	tables := []Table{{Path: path, Versions: map[int64]Content{2: contentOf(t, arrowSchema, record, record)}}}
	check(t, venv, []string{"deltalake"}, tables)
	CheckOnDemand(t, "spark", tables...)
}

func compact(t *testing.T, of *table.Table) {
	t.Helper()
	snap, err := of.Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compaction.NewPlan(snap, compaction.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Groups) == 0 {
		t.Fatal("nothing to compact")
	}
	if err := compaction.Run(t.Context(), snap, plan, compaction.Events{}); err != nil {
		t.Fatal(err)
	}
}
