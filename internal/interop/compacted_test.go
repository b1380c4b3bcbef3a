package interop

import (
	"testing"
	"time"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

func newest(t *testing.T, store storage.Store) *table.Snapshot {
	t.Helper()
	s, err := table.New(store, table.Options{}).Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compact compacts a table in which there is something to rewrite, and puts it in the order of columns if there are any, or of those
// that it is clustered by. It returns what has come of it.
func compact(t *testing.T, store storage.Store, by ...string) *table.Snapshot {
	t.Helper()
	s := newest(t, store)
	order := compaction.Order{By: by, Settings: zorder.Settings{Memory: memory.New(16<<20).Open("sort", 8<<20), Scratch: t.TempDir()}}
	plan, err := compaction.NewPlan(t.Context(), s, compaction.Options{Now: time.Now(), Order: order})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Groups) == 0 {
		t.Fatal("nothing to compact")
	}
	if err := compaction.Run(t.Context(), s, plan, compaction.Events{}); err != nil {
		t.Fatal(err)
	}
	return newest(t, store)
}
