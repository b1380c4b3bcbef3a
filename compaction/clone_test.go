package compaction_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// cloneTable makes a table of two days whose first file has a row deleted, and a clone of it, with URIs as Spark writes them.
func cloneTable(t testing.TB, batches int) (source, clone string) {
	t.Helper()
	source, clone = filepath.Join(t.TempDir(), "a table#1"), t.TempDir()
	store := tabletest.Local(t, source)
	makeTable(t, store, batches, 10, map[string]string{"delta.enableDeletionVectors": "true"})
	tabletest.DeleteRow(t, store)
	tabletest.Clone(t, store, tabletest.Local(t, clone), func(path string) string {
		return "file:" + commitlog.PathEncode(source) + "/" + path
	})
	return source, clone
}

// pathsOf are those of the newest version's files and vectors, in order.
func pathsOf(t testing.TB, store storage.Store) (paths []string) {
	t.Helper()
	state, err := commitlog.New(store).Files(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	for path, vector := range state.Files.Paths() {
		if paths = append(paths, path); vector != nil {
			paths = append(paths, vector.PathOrInlineDv)
		}
	}
	slices.Sort(paths)
	return paths
}

func TestCloneIsReadAppendedToAndKeptInALogCheckpoint(t *testing.T) {
	source, folder := cloneTable(t, 2)
	store := tabletest.Local(t, folder)
	rows := rowsOf(t, tabletest.Local(t, source))
	if diff := cmp.Diff(rows, rowsOf(t, store)); diff != "" || len(rows) != 19 {
		t.Fatal(len(rows), diff)
	}
	paths := pathsOf(t, store)
	if len(paths) != 5 || !strings.HasPrefix(paths[0], "file:/") || !strings.Contains(paths[0], "a%20table%231/") {
		t.Errorf("got %q", paths)
	}
	tbl := table.New(store, table.Options{AppID: "test"})
	appendRows(t, tbl, 2, nil, 10)
	if _, err := tbl.Log().Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "_delta_log", "00000000000000000000.json")); err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(t, store); len(got) != 29 {
		t.Errorf("%d rows", len(got))
	}
	if diff := cmp.Diff(paths, pathsOf(t, store)[2:]); diff != "" { // behind those of the append
		t.Error(diff)
	}
}

func TestCompactionBringsACloneIntoItsOwnFolder(t *testing.T) {
	source, folder := cloneTable(t, 3)
	store := tabletest.Local(t, folder)
	before, rows := files(t, source), rowsOf(t, store)
	cloned := pathsOf(t, store)
	if err := compact(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, rowsOf(t, store)); diff != "" {
		t.Error(diff)
	}
	var removed []string
	for c := range commits(t, store, 1) {
		for _, r := range c.Removes {
			if removed = append(removed, r.Path); r.DeletionVector != nil {
				removed = append(removed, r.DeletionVector.PathOrInlineDv)
			}
		}
	}
	slices.Sort(removed)
	if diff := cmp.Diff(cloned, removed); diff != "" {
		t.Error(diff)
	}
	if err := os.Rename(source, source+".away"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, rowsOf(t, store)); diff != "" {
		t.Errorf("without the source: %s", diff)
	}
	if diff := cmp.Diff(before, files(t, source+".away")); diff != "" {
		t.Errorf("the source: %s", diff)
	}
}

func TestCompactionOfACloneThatDiesAnywhereChangesNoRow(t *testing.T) {
	source, folder := cloneTable(t, 2)
	before := files(t, source)
	t.Run("each mode", func(t *testing.T) {
		changesNoRowOf(t, folder, 2, func(t *testing.T, store storage.Store) error { return compact(t.Context(), store, nil) })
	})
	if diff := cmp.Diff(before, files(t, source)); diff != "" {
		t.Error(diff)
	}
}

// TestRestoredCloneAsksForFilesWhereverTheyAre restores a version whose files are another table's, with and without one of them.
func TestRestoredCloneAsksForFilesWhereverTheyAre(t *testing.T) {
	source, folder := cloneTable(t, 2)
	store := tabletest.Local(t, folder)
	rows := rowsOf(t, store)
	if err := compact(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	tbl := table.New(store, table.Options{})
	restore := func() error {
		t.Helper()
		s, err := tbl.Snapshot(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tbl.PlanRestore(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(t.Context(), s); err != nil {
			return err
		}
		_, err = r.Put(t.Context())
		return err
	}
	vector, err := filepath.Glob(filepath.Join(source, "deletion_vector_*"))
	if err != nil || len(vector) != 1 {
		t.Fatal(vector, err)
	}
	if err := os.Rename(vector[0], vector[0]+".away"); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err == nil || !strings.Contains(err.Error(), "1 of the 4 files that version 0 had besides are gone, file:/") {
		t.Errorf("without a vector: %v", err)
	}
	if err := os.Rename(vector[0]+".away", vector[0]); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, rowsOf(t, store)); diff != "" {
		t.Error(diff)
	}
}

// files are the paths and sizes of all below a folder.
func files(t testing.TB, folder string) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	err := tabletest.Local(t, folder).List(t.Context(), "", "", func(info storage.Info) error {
		sizes[info.Key] = info.Size
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// commits are those from a version on.
func commits(t testing.TB, store storage.Store, from int64) func(yield func(*commitlog.Commit) bool) {
	return func(yield func(*commitlog.Commit) bool) {
		t.Helper()
		more := true
		err := commitlog.New(store).Commits(t.Context(), from, -1, func(c *commitlog.Commit) error {
			more = more && yield(c)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
