package commitlog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage/local"
)

func TestWritersOfOneFolderLoseNothing(t *testing.T) {
	const writers, batches = 4, 10
	dir := t.TempDir()
	ctx := context.Background()
	create := commitlog.Commit{
		Protocol: &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2},
		Metadata: &commitlog.Metadata{
			ID: "T", Format: commitlog.Format{Provider: "parquet"},
			SchemaString: `{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}`,
		},
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := commitlog.New(local.New(dir))
			for n := range int64(batches) {
				tx := commitlog.Transaction{
					ReadVersion: commitlog.NoTable, Actions: create, AppID: fmt.Sprint("writer-", w), Batch: n, Blind: true,
					Validate: func(*commitlog.Head) error { return nil },
				}
				tx.Actions.Adds = []commitlog.Add{{Path: fmt.Sprintf("%d-%d", w, n), Size: 1, DataChange: true}}
				if _, err := l.Commit(ctx, tx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	state, err := commitlog.New(local.New(dir)).Files(ctx, -1)
	if err != nil {
		t.Fatal(err)
	}
	if state.Version != writers*batches-1 || state.Files.Len() != writers*batches || len(state.Apps) != writers {
		t.Errorf("version %d, %d files, %v", state.Version, state.Files.Len(), state.Apps)
	}
}
