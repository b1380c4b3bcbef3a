package vacuum_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

const week = 7 * 24 * time.Hour

func TestWhatTheTableDoesNotNeedIsDeletedOnceItsRetentionIsOver(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeCompacted(t, store)
	rows := tabletest.Rows(t, store, table.Newest)
	stays := []string{
		"_sluice/t/offsets/0", "_other/x.parquet", ".hidden", "metadata/v1.json", "_day=1/_tmp/x.parquet",
		"nested/_delta_log/00000000000000000000.json", "nested/A.parquet", "nested/part.parquet",
	}
	goes := []string{"stray.parquet", "_day=1/stray.parquet", "_change_data/cdc.parquet", "sub/deletion_vector_x.bin"}
	for _, key := range append(stays, goes...) {
		writeFile(t, folder, key, "12345")
	}
	before := filesBelow(t, folder)
	if found := mustRun(t, store, after(week-time.Hour)); found.Removed.Files+found.Orphans.Files > 0 || found.Young.Files != 4 {
		t.Errorf("within the retention: %+v", found)
	}
	if diff := cmp.Diff(before, filesBelow(t, folder)); diff != "" {
		t.Error(diff)
	}
	found := mustRun(t, store, after(week+time.Hour))
	if found.Removed.Files != 6 || found.Orphans != (vacuum.Count{Files: 4, Bytes: 20}) || found.Young.Files != 0 || found.InWork.Files != 0 {
		t.Errorf("after the retention: %+v", found)
	}
	left := filesBelow(t, folder)
	for _, key := range stays {
		if !slices.Contains(left, key) {
			t.Errorf("%s was deleted", key)
		}
	}
	for _, key := range goes {
		if slices.Contains(left, key) {
			t.Errorf("%s is still there", key)
		}
	}
	if len(left) != len(stays)+2 {
		t.Errorf("left are %v", left)
	}
	if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
		t.Error(diff)
	}
}

func TestLiteVacuumDeletesWhatTheLogTellsOf(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeCompacted(t, store)
	rows := tabletest.Rows(t, store, table.Newest)
	writeFile(t, folder, "stray.parquet", "x")
	lists := 0
	watched := storage.Wrap(store, func(op *storage.Op, call func() error) error {
		if op.Name == "list" && !strings.HasPrefix(op.Key, "_delta_log/") {
			lists++
		}
		return call()
	})
	for i, want := range []int64{6, 0} {
		o := after(week + time.Hour)
		o.Lite = true
		if found := mustRun(t, watched, o); found.Removed.Files != want || found.Orphans.Files != 0 {
			t.Errorf("run %d: %+v", i, found)
		}
	}
	if left := filesBelow(t, folder); lists > 0 || len(left) != 3 {
		t.Errorf("%d listings, left are %v", lists, left)
	}
	if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
		t.Error(diff)
	}
}

func TestRetentionShorterThanTheTablesIsRefused(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	makeCompacted(t, store)
	o := vacuum.Options{Retention: week - 1, RetentionSet: true, Now: time.Now()}
	var short *vacuum.RetentionError
	if _, err := vacuum.NewPlan(t.Context(), store, o); !errors.As(err, &short) || short.Least != week {
		t.Errorf("got %v", err)
	}
	o.EvenIfInUse = true
	if p, err := vacuum.NewPlan(t.Context(), store, o); err != nil || !p.Before.Equal(o.Now.Add(1-week)) {
		t.Errorf("got %v", err)
	}
	o.Retention = -1
	if _, err := vacuum.NewPlan(t.Context(), store, o); err == nil {
		t.Error("a retention below 0 is taken")
	}
}

// TestLivingAttemptsAreSpared has appends at each of their stages while a vacuum keeps nothing.
func TestLivingAttemptsAreSpared(t *testing.T) {
	folder := t.TempDir()
	makeCompacted(t, tabletest.Local(t, folder))
	for name, stop := range map[string]string{
		"staged": "publish", "published": "put", "committed, not settled": "settle", "settled in part": "settle 2",
	} {
		t.Run(name, func(t *testing.T) {
			where := t.TempDir()
			if err := os.CopyFS(where, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			vacuumed, settled := false, 0
			writer := storage.Wrap(local.New(where), func(op *storage.Op, call func() error) error {
				if op.Name == "settle" {
					settled++
				}
				if here := op.Name == stop || stop == "settle 2" && settled == 2; here && !vacuumed {
					vacuumed = true
					mustRun(t, tabletest.Local(t, where), atOnce())
				}
				return call()
			})
			defer writer.Close()
			tabletest.Commit(t, appendRows(t, table.New(writer, table.Options{AppID: "test"}), 3), 3)
			if rows := tabletest.Rows(t, tabletest.Local(t, where), table.Newest); !vacuumed || len(rows) != 8 {
				t.Errorf("vacuumed: %v; rows %v", vacuumed, rows)
			}
		})
	}
}

// TestFilesThatCameBackMeanwhileAreSpared has a commit that restores an old version between the reading of the log and the
// deleting.
func TestFilesThatCameBackMeanwhileAreSpared(t *testing.T) {
	for _, lite := range []bool{false, true} {
		store := tabletest.Local(t, t.TempDir())
		makeCompacted(t, store)
		o := atOnce()
		o.Lite = lite
		p, err := vacuum.NewPlan(t.Context(), store, o)
		if err != nil {
			t.Fatal(err)
		}
		rows := tabletest.Rows(t, store, 2)
		restore(t, store, 2)
		if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
			t.Fatal(diff)
		}
		found, err := p.Run(t.Context(), nil)
		if err != nil || found.Removed.Files != 0 || found.InWork.Files != 6 {
			t.Errorf("lite %v: %+v, %v", lite, found, err)
		}
		if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
			t.Error(diff)
		}
	}
}

// restore commits the files of a version in place of those of the newest.
func restore(t testing.TB, store storage.Store, version int64) {
	t.Helper()
	log := commitlog.New(store)
	newest, err := log.Files(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	old, err := log.Files(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	tx := commitlog.Transaction{ReadVersion: newest.Version, Actions: commitlog.Commit{Info: &commitlog.CommitInfo{Operation: "RESTORE"}}}
	for _, a := range seqtest.All(t, newest.Files.All(t.Context())) {
		tx.Actions.Removes = append(tx.Actions.Removes, commitlog.Remove{Path: a.Path, DeletionTimestamp: time.Now().UnixMilli(), DataChange: true})
	}
	for _, a := range seqtest.All(t, old.Files.All(t.Context())) {
		a.DataChange = true
		tx.Actions.Adds = append(tx.Actions.Adds, a)
	}
	if _, err := log.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// TestVacuumThatDiesAnywhereLosesNothing dies, or is lied to, at each operation on storage, and starts again.
func TestVacuumThatDiesAnywhereLosesNothing(t *testing.T) {
	origin := t.TempDir()
	makeCompacted(t, tabletest.Local(t, origin))
	writeFile(t, origin, "sub/stray.parquet", "x")
	rows := tabletest.Rows(t, tabletest.Local(t, origin), table.Newest)
	for _, mode := range storagetest.Modes {
		for _, lite := range []bool{false, true} {
			t.Run(mode.String(), func(t *testing.T) {
				t.Parallel()
				for at := 0; ; at++ {
					folder := t.TempDir()
					if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
						t.Fatal(err)
					}
					o := atOnce()
					o.Lite = lite
					store := tabletest.Local(t, folder)
					crash := &storagetest.Crash{At: at, Mode: mode, Delay: 3}
					_, err := run(t.Context(), crash.Wrap(store), o)
					crash.Deliver()
					if !crash.Happened() {
						if err != nil || at < 1 {
							t.Fatalf("after %d operations: %v", at, err)
						}
						return
					}
					o.Lite = false
					mustRun(t, store, o)
					if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
						t.Fatalf("%s: %s", crash.Op, diff)
					}
					if left := filesBelow(t, folder); len(left) != 2 {
						t.Fatalf("%s: left are %v", crash.Op, left)
					}
				}
			})
		}
	}
}

func TestTablesThatAskForMoreThanIsKnownAreNotVacuumed(t *testing.T) {
	for protocol, refused := range map[string]string{
		`"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly","novelty"]`:                                                      "novelty",
		`"minReaderVersion":1,"minWriterVersion":8`:                                                                                                "writer version",
		`"minReaderVersion":1,"minWriterVersion":6`:                                                                                                "",
		`"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["rowTracking","domainMetadata"]`:                                              "",
		`"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["vacuumProtocolCheck"],"writerFeatures":["vacuumProtocolCheck","checkpoint"]`: "checkpoint",
	} {
		folder := t.TempDir()
		writeFile(t, folder, "_delta_log/00000000000000000000.json", `{"protocol":{`+protocol+`}}
{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}`)
		_, err := vacuum.NewPlan(t.Context(), tabletest.Local(t, folder), after(0))
		if refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// TestAbsolutePathsProtectTheFilesHereThatTheyMayMean has the log name its own files by paths of other spellings.
func TestAbsolutePathsProtectTheFilesHereThatTheyMayMean(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeCompacted(t, store)
	name := filepath.Join(folder, "_delta_log", "00000000000000000005.json")
	state, err := commitlog.New(store).Files(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, a := range seqtest.All(t, state.Files.All(t.Context())) {
		prefix := []string{"file:///a/link/to/it/", "/elsewhere/"}[i%2]
		text += `{"remove":{"path":"` + a.Path + `","dataChange":false}}` + "\n" +
			`{"add":{"path":"` + prefix + a.Path + `","partitionValues":{"_day":null},"size":1,"modificationTime":0,"dataChange":false}}` + "\n"
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if found := mustRun(t, store, atOnce()); found.Removed.Files != 6 {
		t.Errorf("%+v", found)
	}
	if left := filesBelow(t, folder); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
}

func TestPathThatCannotBeReadStopsTheVacuum(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeCompacted(t, store)
	writeFile(t, folder, "_delta_log/00000000000000000005.json", `{"add":{"path":"a%2","partitionValues":{"_day":null},"size":1,"modificationTime":0,"dataChange":false}}`)
	if _, err := run(t.Context(), store, atOnce()); err == nil || !strings.Contains(err.Error(), "nothing is deleted") {
		t.Errorf("got %v", err)
	}
}
