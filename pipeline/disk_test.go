package pipeline_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
)

// badDisk fails the operations of the kinds given, from the at-th of them on, forever or once.
type badDisk struct {
	kinds   []string
	err     error
	at      int64
	forever bool
	n       atomic.Int64
}

func (d *badDisk) wrap(_ string, s storage.Store) storage.Store {
	return storage.Wrap(s, func(op *storage.Op, call func() error) error {
		if !slices.Contains(d.kinds, op.Name) {
			return call()
		}
		if n := d.n.Add(1) - 1; n == d.at || d.forever && n > d.at {
			return &storage.Error{Op: op.Name, Key: op.Key, Err: d.err}
		}
		return call()
	})
}

var (
	takesSpace = []string{"put", "stage", "write", "publish"}
	allWrites  = append([]string{"settle", "abort", "delete", "sweep"}, takesSpace...)
)

// TestEveryRecordIsThereOnceWhereverTheDiskFails fails each operation that writes, by itself and with all that follow, as a
// disk does that is full or broken, and goes on when it is mended.
func TestEveryRecordIsThereOnceWhereverTheDiskFails(t *testing.T) {
	in := landing(t, 3, 9)
	disks := map[string]*badDisk{
		"full":        {kinds: takesSpace, err: syscall.ENOSPC, forever: true},
		"full once":   {kinds: takesSpace, err: syscall.ENOSPC},
		"broken":      {kinds: allWrites, err: syscall.EIO, forever: true},
		"broken once": {kinds: allWrites, err: syscall.EIO},
	}
	for name, disk := range disks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k := int64(0); ; k += stride {
				d := &badDisk{kinds: disk.kinds, err: disk.err, at: k, forever: disk.forever}
				w := newWorld(t, in, "  partition_by: [day]\n"+quarantined+"batch: {max_files: 1}\n")
				err := w.run(t.Context(), pipeline.BuildOptions{Wrap: d.wrap, KeepPlans: 2})
				if err != nil && !errors.Is(err, d.err) {
					t.Errorf("operation %d: %v", k, err)
				}
				w.mustRun(t)
				w.check(t)
				if t.Failed() {
					t.Fatalf("after operation %d", k)
				}
				if d.n.Load() <= k {
					t.Logf("%d operations, every %d. tried", k, stride)
					return
				}
			}
		})
	}
}
