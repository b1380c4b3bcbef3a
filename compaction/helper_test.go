package compaction_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// columns are those of the tests' tables.
const columns = "struct<id:long,day:string,note:string>"

// makeTable appends batches of rows to a new table, a file for each of two days.
func makeTable(t testing.TB, store storage.Store, batches, rows int, properties map[string]string) *table.Table {
	t.Helper()
	tbl := table.New(store, table.Options{AppID: "test"})
	for batch := range batches {
		appendRows(t, tbl, batch, &table.Create{Schema: tabletest.Columns(t, columns), PartitionColumns: []string{"day"}, Properties: properties}, rows)
	}
	return tbl
}

func appendRows(t testing.TB, tbl *table.Table, batch int, create *table.Create, rows int) {
	t.Helper()
	var text []string
	for i := range rows {
		text = append(text, fmt.Sprintf(`{"id":%d,"day":"2026-11-%02d","note":"note %d"}`, batch*rows+i, 1+i%2, i))
	}
	tabletest.Commit(t, tabletest.Begin(t, tbl, create, "["+strings.Join(text, ",")+"]"), batch)
}

// rowsOf are the rows of the newest version, in order.
func rowsOf(t testing.TB, store storage.Store) []string {
	t.Helper()
	return tabletest.Rows(t, store, table.Newest)
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
	p, err := compaction.NewPlan(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
