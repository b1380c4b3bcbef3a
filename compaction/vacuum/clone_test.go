package vacuum_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// TestVacuumLeavesAloneWhatIsOutsideOfTheFolder has a clone lose all of the files that it had of another table.
func TestVacuumLeavesAloneWhatIsOutsideOfTheFolder(t *testing.T) {
	source := t.TempDir()
	store := tabletest.Local(t, source)
	makeCompacted(t, store)
	for _, scheme := range []string{"", "file:", "file://"} {
		folder := t.TempDir()
		clone := tabletest.Local(t, folder)
		tabletest.Clone(t, store, clone, func(path string) string { return scheme + source + "/" + path })
		files, rows := filesBelow(t, source), tabletest.Rows(t, clone, table.Newest)
		tbl := table.New(clone, table.Options{AppID: "test"})
		tabletest.Commit(t, appendRows(t, tbl, 7), 7)
		s, err := tbl.Snapshot(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tbl.PlanRestore(t.Context(), s) // the append is removed
		if err == nil {
			_, err = r.Put(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, lite := range []bool{true, false} {
			o := atOnce()
			o.Lite = lite
			mustRun(t, clone, o)
			if diff := cmp.Diff(files, filesBelow(t, source)); diff != "" {
				t.Fatal(diff)
			}
		}
		if left := filesBelow(t, folder); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
		if diff := cmp.Diff(rows, tabletest.Rows(t, clone, table.Newest)); diff != "" {
			t.Error(diff)
		}
	}
}
