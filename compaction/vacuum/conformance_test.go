package vacuum_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// TestTablesOfOtherEnginesKeepTheirRows vacuums copies of the shared conformance tables, without a retention.
func TestTablesOfOtherEnginesKeepTheirRows(t *testing.T) {
	root := interop.Shared(t, "conformance")
	vacuumed, deleted := 0, int64(0)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "_delta_log" {
			return err
		}
		name := filepath.Dir(path)
		if strings.Contains(name, "/parquet-decimal-") { // large
			return filepath.SkipDir
		}
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(name)); err != nil {
			return err
		}
		store := tabletest.Local(t, folder)
		before, err := countRows(t, store)
		if err != nil { // it is not supported, or its author has damaged it
			return filepath.SkipDir
		}
		found, err := run(t.Context(), store, atOnce())
		var unsupported *commitlog.UnsupportedError
		if errors.As(err, &unsupported) {
			return filepath.SkipDir
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return filepath.SkipDir
		}
		after, err := countRows(t, store)
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
		vacuumed++
		deleted += found.Removed.Files + found.Orphans.Files
		return filepath.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tables were vacuumed, and %d files deleted", vacuumed, deleted)
	if vacuumed < 100 || deleted < 100 {
		t.Errorf("only %d tables were vacuumed, and %d files deleted", vacuumed, deleted)
	}
}

// countRows counts the rows of the newest version, file by file.
func countRows(t testing.TB, store storage.Store) (rows []int64, err error) {
	t.Helper()
	s, err := table.New(store, table.Options{}).Snapshot(t.Context(), table.Newest)
	if err != nil {
		return nil, err
	}
	err = s.Scan(t.Context(), table.ScanOptions{}, func(r arrow.Record) error {
		rows = append(rows, r.NumRows())
		return nil
	})
	return rows, err
}
