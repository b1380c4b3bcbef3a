package compaction_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
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
