package vacuum_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// appendRows begins and writes an append of two files.
func appendRows(t testing.TB, tbl *table.Table, batch int) *table.Append {
	t.Helper()
	create := &table.Create{Schema: tabletest.Columns(t, "struct<id:long,_day:string>"), PartitionColumns: []string{"_day"}}
	return tabletest.Begin(t, tbl, create, fmt.Sprintf(`[{"id":%d,"_day":"1"},{"id":%d,"_day":"2"}]`, 2*batch, 2*batch+1))
}

// makeCompacted makes a table of three appends and a compaction, with 6 files that it does not need any more.
func makeCompacted(t testing.TB, store storage.Store) {
	t.Helper()
	tbl := table.New(store, table.Options{AppID: "test"})
	for batch := range 3 {
		tabletest.Commit(t, appendRows(t, tbl, batch), batch)
	}
	s, err := tbl.Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compaction.NewPlan(t.Context(), s, compaction.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := compaction.Run(t.Context(), s, p, compaction.Events{}); err != nil {
		t.Fatal(err)
	}
}

// after are the options of a vacuum some time from now, by the table's retention.
func after(d time.Duration) vacuum.Options { return vacuum.Options{Now: time.Now().Add(d)} }

// atOnce are those of one that keeps nothing for anybody.
func atOnce() vacuum.Options {
	return vacuum.Options{RetentionSet: true, EvenIfInUse: true, Now: time.Now().Add(time.Minute)}
}

func run(ctx context.Context, store storage.Store, o vacuum.Options) (*vacuum.Found, error) {
	p, err := vacuum.NewPlan(ctx, store, o)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, nil)
}

func mustRun(t testing.TB, store storage.Store, o vacuum.Options) *vacuum.Found {
	t.Helper()
	found, err := run(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// filesBelow are the paths of the files in a folder but for the log's and locks, in order.
func filesBelow(t testing.TB, folder string) (keys []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(folder, path)
		if err == nil && !strings.HasPrefix(key, "_delta_log/") && d.Name() != ".lock" {
			keys = append(keys, key)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func writeFile(t testing.TB, folder, key, text string) {
	t.Helper()
	name := filepath.Join(folder, key)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
