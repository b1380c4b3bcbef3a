package vacuum_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

func TestTableInS3IsVacuumedInBulkAndYoungOrphansStay(t *testing.T) {
	var single, bulk atomic.Int64
	store := bucketOf(t, func(operation string) {
		switch operation {
		case "DeleteObject":
			single.Add(1)
		case "DeleteObjects":
			bulk.Add(1)
		}
	})("t")
	makeCompacted(t, store)
	rows := tabletest.Rows(t, store, table.Newest)
	published := appendRows(t, table.New(store, table.Options{}), 3) // of whom nobody hears again
	if _, err := store.PutIfAbsent(t.Context(), "orphan.parquet", []byte("x")); err != nil {
		t.Fatal(err)
	}
	single.Store(0)
	found := mustRun(t, store, atOnce())
	if found.Removed.Files != 6 || found.Orphans.Files != 0 || found.Young.Files != 1 || bulk.Load() != 1 || single.Load() != 0 {
		t.Errorf("%+v, with %d and %d requests", found, bulk.Load(), single.Load())
	}
	later := atOnce()
	later.Now = later.Now.Add(25 * time.Hour)
	if found := mustRun(t, store, later); found.Orphans.Files != 1 {
		t.Errorf("a day later: %+v", found)
	}
	if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
		t.Error(diff)
	}
	if err := published.Abort(t.Context()); err != nil {
		t.Error(err)
	}
}

// bucketOf starts a server, and opens folders in a bucket of it.
func bucketOf(t *testing.T, requested func(operation string)) func(folder string) storage.Store {
	t.Helper()
	server := s3test.Start(t)
	client, err := s3.New(s3.Options{
		Endpoint: server.URL, Region: s3test.Region, Credentials: s3test.Credentials(), Version: "test", Requested: requested,
	})
	if err != nil {
		t.Fatal(err)
	}
	bucket := server.Bucket(t, "lake")
	return func(folder string) storage.Store {
		store, err := client.Store(bucket, folder)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
}

// TestInS3ACleanupAndAVacuumMayDieAtADeletion has the process die at each request that deletes, of which half or, later, all takes
// effect: the table has its rows after it and no fault in its log, and the next ones leave what a quiet run leaves.
func TestInS3ACleanupAndAVacuumMayDieAtADeletion(t *testing.T) {
	open := bucketOf(t, nil)
	maintained := func(store storage.Store) error {
		c, err := commitlog.New(store).PlanCleanup(t.Context(), commitlog.CleanupOptions{Now: time.Now().AddDate(1, 0, 0)})
		if err == nil {
			_, err = c.Run(t.Context(), nil)
		}
		if err == nil {
			o := atOnce()
			o.Now = o.Now.AddDate(0, 0, 2) // what the log does not tell of any more has to be a day old
			_, err = run(t.Context(), store, o)
		}
		return err
	}
	for _, mode := range []storagetest.Mode{storagetest.Torn, storagetest.Zombie} {
		for at := range 2 { // the log's, and that of files
			store := open(fmt.Sprintf("%d-%d", mode, at))
			makeCompacted(t, store)
			if _, err := commitlog.New(store).Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			rows := tabletest.Rows(t, store, table.Newest)
			crash := &storagetest.Crash{At: at, Mode: mode, Only: "delete all"}
			err := maintained(crash.Wrap(store))
			crash.Deliver()
			if !crash.Happened() || err == nil {
				t.Errorf("%s: %v", crash.Op, err)
			}
			mustBeWhole(t, store, rows)
			if err := maintained(store); err != nil {
				t.Errorf("after %s: %v", crash.Op, err)
			}
			mustBeWhole(t, store, rows)
			left := keysIn(t, store)
			if len(left) != 5 || !slices.Contains(left, "_delta_log/_last_checkpoint") { // behind a commit and its log checkpoint; a file of each partition
				t.Errorf("after %s there are left %v", crash.Op, left)
			}
		}
	}
}

// mustBeWhole wants a table that has these rows, and a log without faults.
func mustBeWhole(t *testing.T, store storage.Store, rows []string) {
	t.Helper()
	if diff := cmp.Diff(rows, tabletest.Rows(t, store, table.Newest)); diff != "" {
		t.Error(diff)
	}
	if err := commitlog.New(store).Verify(t.Context(), func(f commitlog.LogFault) { t.Errorf("%+v", f) }); err != nil {
		t.Error(err)
	}
}

func keysIn(t *testing.T, store storage.Store) (keys []string) {
	t.Helper()
	err := store.List(t.Context(), "", "", func(info storage.Info) error {
		keys = append(keys, info.Key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
