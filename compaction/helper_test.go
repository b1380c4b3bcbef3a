package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// columns are those of the tests' tables.
const columns = "struct<id:long,day:string,note:string>"

// makeTable appends batches of rows to a new table, a file for each of two days.
func makeTable(t testing.TB, store storage.Store, batches, rows int, properties map[string]string) *table.Table {
	t.Helper()
	s, err := schema.ParseDDL(columns)
	if err != nil {
		t.Fatal(err)
	}
	tbl := table.New(store, table.Options{AppID: "test"})
	for batch := range batches {
		appendRows(t, tbl, batch, &table.Create{Schema: s, PartitionColumns: []string{"day"}, Properties: properties}, rows)
	}
	return tbl
}

func appendRows(t testing.TB, tbl *table.Table, batch int, create *table.Create, rows int) {
	t.Helper()
	a, err := tbl.Begin(t.Context(), create)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for i := range rows {
		text = append(text, fmt.Sprintf(`{"id":%d,"day":"2026-11-%02d","note":"note %d"}`, batch*rows+i, 1+i%2, i))
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, a.Schema().ArrowSchema(), strings.NewReader("["+strings.Join(text, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(t.Context(), table.Batch{ID: int64(batch)}); err != nil {
		t.Fatal(err)
	}
}

// rowsOf are the rows of the newest version, in order.
func rowsOf(t testing.TB, store storage.Store) []string {
	t.Helper()
	s := snapshot(t, table.New(store, table.Options{}))
	var rows []string
	err := s.Scan(t.Context(), table.ScanOptions{}, func(r arrow.Record) error {
		for i := range int(r.NumRows()) {
			row := ""
			for _, c := range r.Columns() {
				row += c.ValueStr(i) + ";"
			}
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}

func snapshot(t testing.TB, tbl *table.Table) *table.Snapshot {
	t.Helper()
	s, err := tbl.Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plan(t testing.TB, s *table.Snapshot, o compaction.Options) *compaction.Plan {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = time.Now().Add(time.Hour)
	}
	p, err := compaction.NewPlan(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
