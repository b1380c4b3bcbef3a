package compaction_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/table"
)

func TestTableInS3IsRewritten(t *testing.T) {
	server := s3test.Start(t)
	client, err := s3.New(s3.Options{
		Endpoint: server.URL, Region: s3test.Region, Credentials: s3test.Credentials(), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.Store(server.Bucket(t, "lake"), "t")
	if err != nil {
		t.Fatal(err)
	}
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
