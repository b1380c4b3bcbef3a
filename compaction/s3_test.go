package compaction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// storesInS3 makes stores in buckets, which one client reaches.
func storesInS3(t *testing.T) func(bucket string) storage.Store {
	server := s3test.Start(t)
	client, err := s3.New(s3.Options{
		Endpoint: server.URL, Region: s3test.Region, Credentials: s3test.Credentials(), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(bucket string) storage.Store {
		store, err := client.Store(server.Bucket(t, bucket), "t")
		if err != nil {
			t.Fatal(err)
		}
		return client.Retrier().Wrap(store)
	}
}

func TestTableInS3IsRewritten(t *testing.T) {
	store := storesInS3(t)("lake")
	makeTable(t, store, 4, 10, nil)
	before := rowsOf(t, store)
	if err := compact(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
		t.Error(diff)
	}
	if n := snapshot(t, table.New(store, table.Options{})).State().Files.Len(); n != 2 {
		t.Errorf("%d files are left", n)
	}
}

// TestInS3NoLateRequestOfACompactionOrALogCheckpointChangesARow has each request that changes something take effect only after
// it has been given up, or after the death of the process, which starts again. Deaths at each operation are tried on a local disk.
func TestInS3NoLateRequestOfACompactionOrALogCheckpointChangesARow(t *testing.T) {
	open := storesInS3(t)
	work := func(store storage.Store) error {
		if err := compact(t.Context(), store, nil); err != nil {
			return err
		}
		_, err := commitlog.New(store).Checkpoint(t.Context())
		return err
	}
	for _, mode := range []storagetest.Mode{storagetest.Late, storagetest.Zombie} {
		for at := 0; ; at++ {
			store := open(fmt.Sprintf("mode-%d-at-%d", mode, at))
			makeTable(t, store, 2, 2, nil)
			before := rowsOf(t, store)
			crash := &storagetest.Crash{At: at, Mode: mode, Delay: 3}
			err := work(crash.Wrap(store))
			crash.Deliver()
			if !crash.Happened() {
				if err != nil || at < 3 {
					t.Fatalf("%v: %d operations: %v", mode, at, err)
				}
				t.Logf("%v: %d requests", mode, at)
				break
			}
			mustBeWhole(t, store, before)
			if err := work(store); err != nil {
				t.Fatalf("%s, then again: %v", crash.Op, err)
			}
			mustBeWhole(t, store, before)
			if n := snapshot(t, table.New(store, table.Options{})).State().Files.Len(); n != 2 || t.Failed() {
				t.Fatalf("%s: %d files are left", crash.Op, n)
			}
		}
	}
}

// mustBeWhole wants a table that has these rows, and a log without faults.
func mustBeWhole(t *testing.T, store storage.Store, rows []string) {
	t.Helper()
	if diff := cmp.Diff(rows, rowsOf(t, store)); diff != "" {
		t.Error(diff)
	}
	if err := commitlog.New(store).Verify(t.Context(), func(f commitlog.LogFault) { t.Errorf("%+v", f) }); err != nil {
		t.Error(err)
	}
}

// TestCloneInS3ReadsOtherBuckets names another bucket's files as Hadoop does.
func TestCloneInS3ReadsOtherBuckets(t *testing.T) {
	open := storesInS3(t)
	source, clone := open("source"), open("clone")
	makeTable(t, source, 2, 10, map[string]string{"delta.enableDeletionVectors": "true"})
	tabletest.DeleteRow(t, source)
	tabletest.Clone(t, source, clone, func(path string) string { return "s3a" + strings.TrimPrefix(source.URL(), "s3") + "/" + path })
	before := rowsOf(t, source)
	if diff := cmp.Diff(before, rowsOf(t, clone)); diff != "" {
		t.Fatal(diff)
	}
	if err := compact(t.Context(), clone, nil); err != nil {
		t.Fatal(err)
	}
	for _, store := range []storage.Store{source, clone} {
		if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
			t.Errorf("%s: %s", store.URL(), diff)
		}
	}
	for _, path := range pathsOf(t, clone) {
		if strings.HasPrefix(path, "s3a:") {
			t.Errorf("the clone still needs %s", path)
		}
	}
}
