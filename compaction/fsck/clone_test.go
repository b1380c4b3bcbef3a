package fsck_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// cloneTable makes a table of three files, and a clone of it.
func cloneTable(t testing.TB) (source, clone string) {
	t.Helper()
	source, clone = t.TempDir(), t.TempDir()
	makeTable(t, tabletest.Local(t, source), 0, 3, nil)
	tabletest.Clone(t, tabletest.Local(t, source), tabletest.Local(t, clone), func(path string) string { return "file://" + source + "/" + path })
	return source, clone
}

func TestFilesOutsideOfTheFolderAreCheckedLikeOthers(t *testing.T) {
	source, clone := cloneTable(t)
	if r := check(t, clone); r.Files != 3 || r.Elsewhere != 0 || len(r.Faults) > 0 || r.Orphans.Files+r.Young.Files > 0 {
		t.Errorf("%+v", r)
	}
	rewrite(t, dataFiles(t, source)[0], func(b []byte) []byte { return append(b, 0) })
	r := check(t, clone)
	if len(r.Faults) == 0 || !strings.Contains(r.Faults[0].Path, source) || !strings.Contains(r.Faults[0].Problem, "bytes, the log says") {
		t.Errorf("%+v", r)
	}
}

func TestFileOutsideOfTheFolderThatIsMissingIsRemoved(t *testing.T) {
	source, clone := cloneTable(t)
	if err := os.Remove(dataFiles(t, source)[0]); err != nil {
		t.Fatal(err)
	}
	r, store := check(t, clone), tabletest.Local(t, clone)
	if len(r.Faults) != 1 || !r.Faults[0].Missing {
		t.Fatalf("%+v", r)
	}
	removed, err := fsck.RemoveMissing(t.Context(), store, r, table.Options{}, time.Now())
	if err != nil || removed.Version != 1 || removed.Files != 1 || removed.Rows != 3 {
		t.Errorf("%+v, %v", removed, err)
	}
	if r := check(t, clone); r.Files != 2 || len(r.Faults) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestPathsThatLeadToNoFileAreFaults has the log name what a table may name to do harm.
func TestPathsThatLeadToNoFileAreFaults(t *testing.T) {
	outside, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("no Parquet file"), 0o666); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(outside, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		problem string
		missing bool
	}{
		outside + "/nothing":           {"it is missing", true},
		outside:                        {"it is missing", true},
		"file://" + pipe:               {"it is missing", true},
		"/dev/zero":                    {"it is missing", true},
		"file:" + secret:               {"it cannot be read", false},
		"../" + filepath.Base(outside): {"not a clean relative path", false},
		"file://" + outside + "/../x":  {"not a clean relative path", false},
		outside + "/%2e%2e/x":          {"not a clean relative path", false},
	} {
		folder := t.TempDir()
		makeTable(t, tabletest.Local(t, folder), 0, 1, nil)
		part := filepath.Base(dataFiles(t, folder)[0])
		rewrite(t, filepath.Join(folder, "_delta_log", "00000000000000000000.json"), func(b []byte) []byte {
			return []byte(strings.Replace(string(b), part, path, 1))
		})
		r := check(t, folder)
		if !slices.ContainsFunc(r.Faults, func(f fsck.Fault) bool {
			return f.Path == path && f.Missing == want.missing && strings.Contains(f.Problem, want.problem)
		}) {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

func TestFilesInAnotherKindOfStoreAreCounted(t *testing.T) {
	folder := t.TempDir()
	makeTable(t, tabletest.Local(t, folder), 0, 1, nil)
	part := filepath.Base(dataFiles(t, folder)[0])
	rewrite(t, filepath.Join(folder, "_delta_log", "00000000000000000000.json"), func(b []byte) []byte {
		return []byte(strings.Replace(string(b), part, "s3://bucket/"+part, 1))
	})
	if r := check(t, folder); r.Elsewhere != 1 || len(r.Faults) > 0 {
		t.Errorf("%+v", r)
	}
}
