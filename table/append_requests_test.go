package table

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// TestAnAppendTakesOneRequestOfTheLogHoweverManyFilesThereAre is of a table that is kept open: an append puts its commit, and neither reads
// nor lists anything.
func TestAnAppendTakesOneRequestOfTheLogHoweverManyFilesThereAre(t *testing.T) {
	columns := parseSchema(t, "id:long")
	want := []string{"stage of a file", "write of a file", "publish of a file", "put of the log", "settle of a file"}
	for _, files := range []int{0, 1000, 10_000} {
		store := newMemStore()
		fillLog(t, store, files)
		var ops []string
		watched := storage.Wrap(store, func(op *storage.Op, call func() error) error {
			of := "a file"
			if commitlog.InLog(op.Key) {
				of = "the log"
			}
			ops = append(ops, fmt.Sprintf("%s of %s", op.Name, of))
			return call()
		})
		tbl := New(watched, Options{AppID: "app"})
		for id := range int64(4) {
			a, err := tbl.Begin(t.Context(), &Create{Schema: columns})
			if err != nil {
				t.Fatal(err)
			}
			if id == 0 {
				ops = nil // it has opened the table
			}
			if err := a.Write(t.Context(), record(t, columns, `[{"id":1}]`)); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Commit(t.Context(), Batch{ID: id}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, ops); diff != "" {
				t.Errorf("append %d beside %d files: %s", id, files, diff)
			}
			ops = nil
		}
	}
}

// fillLog makes a table of so many files, in one commit.
func fillLog(t *testing.T, store *memStore, files int) {
	t.Helper()
	c := commitlog.Commit{
		Info:     &commitlog.CommitInfo{Timestamp: 1, Operation: "WRITE", TxnID: "of another"},
		Protocol: &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2},
		Metadata: &commitlog.Metadata{ID: "t", Format: commitlog.Format{Provider: "parquet"}, SchemaString: parseSchema(t, "id:long").JSON()},
	}
	for i := range files {
		c.Adds = append(c.Adds, commitlog.Add{Path: fmt.Sprintf("%d.parquet", i), Size: 1, DataChange: true, Stats: `{"numRecords":1}`})
	}
	body, err := c.Render()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.PutIfAbsent(t.Context(), "_delta_log/00000000000000000000.json", body); err != nil {
		t.Fatal(err)
	}
}
