package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// compact is what the command does: sweep, plan, rewrite.
func compact(ctx context.Context, store storage.Store, done func(compaction.Done)) error {
	tbl := table.New(store, table.Options{})
	if _, err := tbl.Sweep(ctx); err != nil {
		return err
	}
	s, err := tbl.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	p, err := compaction.NewPlan(ctx, s, compaction.Options{Now: time.Now()})
	if err != nil {
		return err
	}
	return compaction.Run(ctx, s, p, compaction.Events{Done: done})
}

func TestEachPartitionBecomesOneFileWithTheSameRows(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	tbl := makeTable(t, store, 5, 20, nil)
	before := rowsOf(t, store)
	var groups []string
	err := compact(t.Context(), store, func(d compaction.Done) {
		groups = append(groups, fmt.Sprint(d.Partition, " ", len(d.Files), " ", d.Committed.Files, " ", d.Committed.Rows))
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"day=2026-11-01 5 1 50", "day=2026-11-02 5 1 50"}, groups); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
		t.Error(diff)
	}
	err = tbl.History(t.Context(), func(c *commitlog.Commit) error {
		if c.Version < 5 {
			return nil
		}
		if c.Info.Operation != "OPTIMIZE" || *c.Info.IsBlindAppend || c.Info.IsolationLevel != "SnapshotIsolation" || len(c.Txns) > 0 ||
			c.Info.OperationMetrics["numRemovedFiles"] != "5" || c.Info.OperationMetrics["numAddedFiles"] != "1" {
			t.Errorf("version %d: %+v", c.Version, c.Info)
		}
		for _, a := range c.Adds {
			if a.DataChange {
				t.Error("an add changes data")
			}
		}
		for _, r := range c.Removes {
			if r.DataChange || r.DeletionTimestamp == 0 || !r.ExtendedFileMetadata {
				t.Errorf("%+v", r)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := plan(t, snapshot(t, tbl), compaction.Options{}); len(p.Groups) > 0 {
		t.Errorf("there is still something to rewrite: %+v", p.Groups)
	}
}

// TestGroupThatLosesARaceIsLeftAndOthersAreNot has another engine delete a file, and append one, while the first group is
// rewritten.
func TestGroupThatLosesARaceIsLeftAndOthersAreNot(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeTable(t, store, 3, 10, nil)
	tbl := table.New(store, table.Options{})
	s := snapshot(t, tbl)
	other := table.New(tabletest.Local(t, folder), table.Options{AppID: "test"})
	appendRows(t, other, 3, nil, 10)
	state, err := other.Log().Files(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	victim := seqtest.All(t, state.Files.All(t.Context()))[0]
	_, err = other.Log().Commit(t.Context(), commitlog.Transaction{
		ReadVersion: state.Version,
		Actions: commitlog.Commit{Removes: []commitlog.Remove{
			{Path: victim.Path, DeletionTimestamp: 1, DataChange: true, PartitionValues: victim.PartitionValues, Size: &victim.Size},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := rowsOf(t, store)
	var got []string
	err = compaction.Run(t.Context(), s, plan(t, s, compaction.Options{}), compaction.Events{Done: func(d compaction.Done) {
		got = append(got, fmt.Sprint(d.Partition, " ", d.Conflict != nil))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"day=2026-11-01 true", "day=2026-11-02 false"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
		t.Error(diff)
	}
	if n := snapshot(t, tbl).State().Files.Len(); n != 2+1+2 { // of the first day, of the second, and what was appended
		t.Errorf("%d files", n)
	}
	noOrphans(t, folder)
}

func TestCompactionThatDiesAnywhereChangesNoRow(t *testing.T) {
	changesNoRowWhereverItDies(t, 3, func(t *testing.T, store storage.Store) error { return compact(t.Context(), store, nil) })
}

// changesNoRowWhereverItDies has a work die, or be lied to, at each operation on the storage of a table with so many files a day, and start again.
// It leaves a file of each of two days.
func changesNoRowWhereverItDies(t *testing.T, files int, work func(t *testing.T, store storage.Store) error) {
	origin := t.TempDir()
	makeTable(t, tabletest.Local(t, origin), files, 10, nil)
	changesNoRowOf(t, origin, 2, work)
}

// changesNoRowOf is changesNoRowWhereverItDies with copies of a folder's table, of which it leaves so many files.
func changesNoRowOf(t *testing.T, origin string, left int, work func(t *testing.T, store storage.Store) error) {
	before := rowsOf(t, tabletest.Local(t, origin))
	for _, mode := range storagetest.Modes {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			for at := 0; ; at++ {
				folder := t.TempDir()
				if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
					t.Fatal(err)
				}
				crash := &storagetest.Crash{At: at, Mode: mode, Delay: 3}
				first := local.New(folder)
				err := work(t, crash.Wrap(first))
				first.Close()
				crash.Deliver()
				if !crash.Happened() {
					if err != nil || at < 1 {
						t.Fatalf("%d operations: %v", at, err)
					}
					return
				}
				store := tabletest.Local(t, folder)
				if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
					t.Fatalf("%s, %v: %s", crash.Op, err, diff)
				}
				if err := work(t, store); err != nil {
					t.Fatalf("%s: %v", crash.Op, err)
				}
				if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
					t.Fatalf("%s, then again: %s", crash.Op, diff)
				}
				if n := snapshot(t, table.New(store, table.Options{})).State().Files.Len(); n != left {
					t.Fatalf("%s: %d files are left", crash.Op, n)
				}
				noOrphans(t, folder)
			}
		})
	}
}

// noOrphans finds Parquet files that no commit ever referred to.
func noOrphans(t testing.TB, folder string) {
	t.Helper()
	known := map[string]bool{}
	err := table.New(tabletest.Local(t, folder), table.Options{}).History(t.Context(), func(c *commitlog.Commit) error {
		for _, a := range c.Adds {
			known[a.Path] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".parquet") {
			return err
		}
		if key, err := filepath.Rel(folder, path); err != nil || !known[key] {
			return errors.Join(err, fmt.Errorf("%s is in no commit", key))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPlanLeavesAlone(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	tbl := makeTable(t, store, 4, 10, nil)
	s := snapshot(t, tbl)
	day := func(text string) compaction.Options {
		where, err := s.Where(text)
		if err != nil {
			t.Fatal(err)
		}
		return compaction.Options{Where: where}
	}
	size := filesOf(t, s)[0].Size
	for name, c := range map[string]struct {
		options compaction.Options
		want    []int // files of each group
		young   int
	}{
		"nothing":              {compaction.Options{}, []int{4, 4}, 0},
		"young files":          {compaction.Options{Now: filesOf(t, s)[0].Modified.Add(time.Minute), MinAge: time.Hour}, nil, 8},
		"other partitions":     {day("day = '2026-11-02'"), []int{4}, 0},
		"what is beyond bytes": {compaction.Options{MaxBytes: size}, []int{4}, 0},
		"partitions not there": {day("day > '2027'"), nil, 0},
	} {
		p := plan(t, s, c.options)
		var got []int
		for _, g := range p.Groups {
			got = append(got, len(g.Files))
		}
		if !slices.Equal(got, c.want) || p.Young != c.young {
			t.Errorf("%s: groups %v, %d young", name, got, p.Young)
		}
	}
	if _, err := compaction.NewPlan(t.Context(), s, day("id = 3")); err == nil || !strings.Contains(err.Error(), "not partitioned by it; files are chosen by day") {
		t.Errorf("got %v", err)
	}
}

// TestGroupsAreAsLargeAsTheTableWantsItsFiles sets the size to that of three small files.
func TestGroupsAreAsLargeAsTheTableWantsItsFiles(t *testing.T) {
	probe := tabletest.Local(t, t.TempDir())
	size := filesOf(t, snapshot(t, makeTable(t, probe, 1, 10, nil)))[0].Size
	store := tabletest.Local(t, t.TempDir())
	tbl := makeTable(t, store, 7, 10, map[string]string{"delta.targetFileSize": fmt.Sprint(3*size + size/2)})
	var got []int
	for _, g := range plan(t, snapshot(t, tbl), compaction.Options{}).Groups {
		got = append(got, len(g.Files))
	}
	if !slices.Equal(got, []int{3, 3, 3, 3}) { // the seventh of each day is alone
		t.Errorf("groups of %v files", got)
	}
}

func filesOf(t testing.TB, s *table.Snapshot) []table.File {
	t.Helper()
	files, err := s.FilesWhere(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
