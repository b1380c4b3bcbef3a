package commitlog_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage/local"
)

// A batch is committed together with its id, so that it is known to be there whatever happens to the process.
func Example() {
	dir, err := os.MkdirTemp("", "table")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store := local.New(dir)
	ctx := context.Background()

	tx := commitlog.Transaction{
		ReadVersion: commitlog.NoTable, AppID: "web-requests", Batch: 0, Blind: true,
		Actions: commitlog.Commit{
			Protocol: &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2},
			Metadata: &commitlog.Metadata{
				ID:           "b39a5e2c-6f3c-4f0c-9d5f-0c5c1f6c9c55",
				Format:       commitlog.Format{Provider: "parquet"},
				SchemaString: `{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}`,
			},
			Adds: []commitlog.Add{{Path: "part-00000.parquet", Size: 812, ModificationTime: 1700000000000, DataChange: true}},
		},
	}
	result, err := commitlog.New(store).Commit(ctx, tx)
	fmt.Println("version", result.Version, err)

	// Another process, or the same one after a crash, finds the batch there and does not repeat it.
	table := commitlog.New(store)
	head, err := table.Load(ctx)
	fmt.Println("batch", head.Apps["web-requests"].Batch, err)
	tx.ReadVersion, tx.Actions.Protocol, tx.Actions.Metadata = head.Version, nil, nil
	_, err = table.Commit(ctx, tx)
	fmt.Println(err)

	// Output:
	// version 0 <nil>
	// batch 0 <nil>
	// commit batch 0 of "web-requests": table version 0 has it, or a batch that it covers, already, by another transaction; if a second process runs this pipeline, stop one of the two
}
