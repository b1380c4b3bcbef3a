package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// checkForeign wants foreign readers to see, in every version of every table below a folder, the rows that a scan of ours
// sees, which the scripts compare with their sources.
func checkForeign(t *testing.T, root string) {
	t.Helper()
	var asked []interop.Table
	versions := 0
	for _, path := range tablesBelow(t, root) {
		view := interop.Table{Path: path, Versions: map[int64]interop.Content{}}
		newest := newestOf(t, path)
		for version := newest; version >= 0 && (version == newest || whole(t, path, version)); version-- {
			view.Versions[version] = contentAt(t, path, version)
		}
		asked = append(asked, view)
		versions += len(view.Versions)
	}
	if len(asked) == 0 {
		t.Fatal("the scripts left no table")
	}
	interop.Check(t, asked...)
	t.Logf("%d tables with %d versions", len(asked), versions)
}

func newestOf(t *testing.T, path string) int64 {
	t.Helper()
	s, err := openSnapshot(t.Context(), path, moment{version: table.Newest})
	if err != nil {
		t.Fatal(err)
	}
	return s.Version()
}

// whole says whether a version can be read and all of its files are there: a cleanup or a vacuum may have deleted some.
func whole(t *testing.T, path string, version int64) bool {
	t.Helper()
	s, err := openSnapshot(t.Context(), path, moment{version: version})
	if errors.Is(err, commitlog.ErrNoVersion) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	for f := range s.State().Files.Keys() {
		if _, err := os.Stat(filepath.Join(path, f.Path)); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func contentAt(t *testing.T, path string, version int64) interop.Content {
	t.Helper()
	s, err := table.New(local.New(path), table.Options{}).Snapshot(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	return interop.Scanned(t, s)
}
