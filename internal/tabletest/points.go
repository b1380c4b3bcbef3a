package tabletest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// Points makes a table of a square of points, with a number x and a text s.y of four digits, both from 0 up to side, whose files are to be
// small. It may be clustered. Each of its files has values from all over both, as they come.
func Points(tb testing.TB, store storage.Store, side int, clusterBy ...string) *table.Table {
	tb.Helper()
	tbl := table.New(store, table.Options{AppID: "test"})
	create := &table.Create{
		Schema: Columns(tb, "struct<x:int,s:struct<y:string>,note:string>"), ClusterBy: clusterBy,
		Properties: map[string]string{"delta.targetFileSize": "30000"},
	}
	const batches = 10
	for batch := range batches {
		var rows []string
		for x := batch; x < side; x += batches {
			for y := range side {
				rows = append(rows, fmt.Sprintf(`{"x":%d,"s":{"y":"%04d"},"note":"%d %d"}`, x, y, x*y*7919%10007, x*y*104729%1000003))
			}
		}
		Commit(tb, Begin(tb, tbl, create, "["+strings.Join(rows, ",")+"]"), batch)
	}
	return tbl
}
