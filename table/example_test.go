package table_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// A batch is appended to a table that does not exist yet, and read back.
func Example() {
	if err := appendAndScan(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// version 0: 3 rows in 2 files
	// day=2024-01-01/part-00000: [{"day":"2024-01-01","id":3}
	// ]
}

func appendAndScan() error {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "table")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	store := local.New(folder)
	defer store.Close()
	requests := table.New(store, table.Options{AppID: "web-requests", EngineVersion: "0.1.0"})

	columns, err := schema.ParseDDL("struct<day:date,id:long NOT NULL>")
	if err != nil {
		return err
	}
	batch, err := requests.Begin(ctx, &table.Create{Schema: columns, PartitionColumns: []string{"day"}})
	if err != nil {
		return err
	}
	rows := `[{"day":"2024-01-01","id":1},{"day":"2024-01-02","id":2},{"day":"2024-01-01","id":3}]`
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, columns.ArrowSchema(), strings.NewReader(rows))
	if err != nil {
		return err
	}
	defer record.Release()
	if err := batch.Write(ctx, record); err != nil {
		return err
	}
	done, err := batch.Commit(ctx, table.Batch{ID: 0})
	if err != nil {
		return err
	}
	fmt.Printf("version %d: %d rows in %d files\n", done.Version, done.Rows, done.Files)

	snapshot, err := requests.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	for f := range snapshot.Files(ctx) {
		fmt.Print(f.Path[:25], ": ")
		break
	}
	where, err := snapshot.Where("id = 3")
	if err != nil {
		return err
	}
	return snapshot.Scan(ctx, table.ScanOptions{Where: where}, func(r arrow.Record) error {
		text, err := r.MarshalJSON()
		fmt.Println(string(text))
		return err
	})
}
