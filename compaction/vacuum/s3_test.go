package vacuum_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/table"
)

func TestTableInS3IsVacuumedInBulkAndYoungOrphansStay(t *testing.T) {
	server := s3test.Start(t)
	var single, bulk atomic.Int64
	client, err := s3.New(s3.Options{
		Endpoint: server.URL, Region: s3test.Region, Credentials: s3test.Credentials(), Version: "test",
		Requested: func(operation string) {
			switch operation {
			case "DeleteObject":
				single.Add(1)
			case "DeleteObjects":
				bulk.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.Store(server.Bucket(t, "lake"), "t")
	if err != nil {
		t.Fatal(err)
	}
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
