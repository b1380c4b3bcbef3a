package main

import (
	"testing"

	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

func TestTableHasAsManyFilesAsAskedForWithStatistics(t *testing.T) {
	path := t.TempDir()
	columns := "struct<id:string,user_id:long,event_type:string,ts:timestamp,url:string,amount:double,referrer:string,seq:int,mobile:boolean>"
	if err := run(t.Context(), []string{path, columns, "3", "100"}); err != nil {
		t.Fatal(err)
	}
	s, err := table.New(local.New(path), table.Options{}).Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for f, err := range s.Files(t.Context()) {
		if err != nil || f.Rows != rows {
			t.Fatal(f, err)
		}
		seen[f.Path] = true
	}
	if len(seen) != 100 || s.Version() != 2 {
		t.Errorf("%d files at version %d", len(seen), s.Version())
	}
}
