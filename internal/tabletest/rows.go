// Package tabletest makes tables for tests, and reads them back as text.
package tabletest

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// Local opens a folder until the test ends.
func Local(tb testing.TB, folder string) storage.Store {
	tb.Helper()
	store := local.New(folder)
	tb.Cleanup(func() { store.Close() })
	return store
}

// Columns reads columns in DDL: struct<id:long,…>.
func Columns(tb testing.TB, ddl string) *schema.Type {
	tb.Helper()
	s, err := schema.ParseDDL(ddl)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Begin begins an append, and writes rows to it: a JSON array of objects.
func Begin(tb testing.TB, tbl *table.Table, create *table.Create, rows string) *table.Append {
	tb.Helper()
	a, err := tbl.Begin(tb.Context(), create)
	if err != nil {
		tb.Fatal(err)
	}
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, a.Schema().ArrowSchema(), strings.NewReader(rows))
	if err != nil {
		tb.Fatal(err)
	}
	if err := a.Write(tb.Context(), record); err != nil {
		tb.Fatal(err)
	}
	return a
}

// Commit commits an append as a batch.
func Commit(tb testing.TB, a *table.Append, batch int) {
	tb.Helper()
	if _, err := a.Commit(tb.Context(), table.Batch{ID: int64(batch)}); err != nil {
		tb.Fatal(err)
	}
}

// Rows are the rows of a version as text, sorted.
func Rows(tb testing.TB, store storage.Store, version int64) []string {
	tb.Helper()
	s, err := table.New(store, table.Options{}).Snapshot(tb.Context(), version)
	if err != nil {
		tb.Fatal(err)
	}
	var rows []string
	err = s.Scan(tb.Context(), table.ScanOptions{}, func(r arrow.Record) error {
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
		tb.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}
