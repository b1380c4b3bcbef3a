package vacuum_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// TestIngestionCompactionAndVacuumAtOnceLoseNothing has each of them at work by itself, as processes are, while the vacuum
// keeps nothing.
func TestIngestionCompactionAndVacuumAtOnceLoseNothing(t *testing.T) {
	const batches = 15
	folder := t.TempDir()
	writer := local.New(folder)
	defer writer.Close()
	tbl := table.New(writer, table.Options{AppID: "test"})
	tabletest.Commit(t, appendRows(t, tbl, 0), 0)
	var (
		running sync.WaitGroup
		ended   atomic.Bool
	)
	beside := func(work func() error) {
		running.Go(func() {
			for first := true; first || !ended.Load(); first = false {
				if err := work(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	beside(func() error {
		store := local.New(folder)
		tbl := table.New(store, table.Options{})
		s, err := tbl.Snapshot(t.Context(), table.Newest)
		if err != nil {
			return errors.Join(err, store.Close())
		}
		p, err := compaction.NewPlan(t.Context(), s, compaction.Options{Now: time.Now()})
		if err == nil {
			err = compaction.Run(t.Context(), s, p, compaction.Events{})
		}
		return errors.Join(err, store.Close())
	})
	beside(func() error {
		store := local.New(folder)
		_, err := run(t.Context(), store, atOnce())
		if err == nil {
			_, err = table.New(store, table.Options{}).Sweep(t.Context())
		}
		return errors.Join(err, store.Close())
	})
	for batch := 1; batch < batches; batch++ {
		tabletest.Commit(t, appendRows(t, tbl, batch), batch)
	}
	ended.Store(true)
	running.Wait()
	if rows := tabletest.Rows(t, tabletest.Local(t, folder), table.Newest); len(rows) != 2*batches {
		t.Errorf("%d rows", len(rows))
	}
}
