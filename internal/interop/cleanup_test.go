package interop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadWhatADeadCleanupLeaves has a cleanup of expired log die half-way through and behind its deletions of
// versions, and those of sidecars. Polars does not read tables with these.
func TestForeignReadersReadWhatADeadCleanupLeaves(t *testing.T) {
	Readers(t)
	origin := t.TempDir()
	store := tabletest.Local(t, origin)
	create := &table.Create{Schema: tabletest.Columns(t, "struct<id:long,day:string>"), PartitionColumns: []string{"day"}, Properties: map[string]string{"delta.checkpointInterval": "1000"}}
	appendRow := func(batch int) {
		a := tabletest.Begin(t, table.New(store, table.Options{}), create, fmt.Sprintf(`[{"id":%d,"day":"d%d"}]`, batch, batch%2))
		tabletest.Commit(t, a, batch)
	}
	appendRow(0)
	appendRow(1)
	upgradeToV2(t, origin)
	for batch := 3; batch <= 5; batch++ {
		appendRow(batch)
		if done, err := commitlog.New(store).Checkpoint(t.Context()); err != nil || done.Sidecars != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	s, err := table.New(store, table.Options{}).Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]Content{5: Scanned(t, s)}
	var tables []Table
	for _, death := range []struct {
		mode storagetest.Mode
		at   int
	}{
		{storagetest.Torn, 0}, {storagetest.After, 0}, {storagetest.Torn, 1}, {storagetest.After, 1},
	} {
		folder := filepath.Join(t.TempDir(), "t")
		if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
			t.Fatal(err)
		}
		crash := storagetest.Crash{Mode: death.mode, At: death.at, Only: "delete all"}
		disk := local.New(folder)
		c, err := commitlog.New(crash.Wrap(disk)).PlanCleanup(t.Context(), commitlog.CleanupOptions{Now: time.Now().AddDate(1, 0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context(), nil); !errors.Is(err, storagetest.ErrCrashed) {
			t.Fatalf("%s: %v", crash.Op, err)
		}
		if err := disk.Close(); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, Table{Path: folder, Versions: want})
	}
	Check(t, tables...)
	CheckBy(t, "spark", tables...)
	CheckBy(t, "chdb", tables...)
}
