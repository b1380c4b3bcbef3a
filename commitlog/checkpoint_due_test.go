package commitlog

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
)

func TestALogCheckpointIsDueByWhatItSavesOrByTheTablesInterval(t *testing.T) {
	large := lastCheckpoint{Version: 7, SizeInBytes: 8_000_000}
	for name, tt := range map[string]struct {
		tail     tail
		interval string
		want     bool
	}{
		"nothing":                              {tail{}, "", false},
		"few commits, however large":           {tail{commits: 99, bytes: 1 << 40}, "", false},
		"a hundred, and no log checkpoint":     {tail{commits: 100, bytes: 1}, "", true},
		"an eighth of the log checkpoint":      {tail{100, 1_000_000, large}, "", true},
		"less of it, in however many commits":  {tail{1_000_000, 999_999, large}, "", false},
		"the interval":                         {tail{10, 10, large}, "10", true},
		"less than it":                         {tail{9, 1 << 40, lastCheckpoint{}}, "10", false},
		"nothing, behind an interval of one":   {tail{}, "1", false},
		"less than an interval of a thousand":  {tail{999, 1 << 40, lastCheckpoint{}}, "1000", false},
		"a commit behind an interval of one":   {tail{commits: 1}, "1", true},
		"more commits than a longer interval":  {tail{commits: 5000}, "1000", true},
		"a hundred behind one of unknown size": {tail{100, 1, lastCheckpoint{Version: 7}}, "", true},
	} {
		properties := map[string]string{}
		if tt.interval != "" {
			properties[propCheckpointInterval] = tt.interval
		}
		if got, err := tt.tail.due(properties); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, wrong := range []string{"", "0", "-1", "ten", "1.5"} {
		_, err := tail{}.due(map[string]string{propCheckpointInterval: wrong})
		if err == nil || !strings.Contains(err.Error(), "delta.checkpointInterval is") {
			t.Errorf("interval %q: %v", wrong, err)
		}
	}
}

// TestAHeadKnowsWhatIsBehindTheNewestLogCheckpoint compares what a head that goes on knows with what is there, and counts what it
// takes to know it.
func TestAHeadKnowsWhatIsBehindTheNewestLogCheckpoint(t *testing.T) {
	ctx := context.Background()
	f := newLogFolder(t)
	f.commit(0, lineProtocol, lineMetadata)
	f.commit(1, lineAdd("first"))
	var asked atomic.Int64
	l := New(storage.Wrap(f.log().store, func(_ *storage.Op, call func() error) error { asked.Add(1); return call() }))
	if _, err := l.Load(ctx); err != nil {
		t.Fatal(err)
	}
	behind := func(version int64) (want tail) {
		for v := version + 1; ; v++ {
			info, err := os.Stat(f.path(fmt.Sprintf("%020d.json", v)))
			if err != nil {
				return want
			}
			want.commits++
			want.bytes += info.Size()
		}
	}
	check := func(when string, version int64, exact bool) {
		t.Helper()
		want, got := behind(version), l.Head().tail
		if got.commits != want.commits || exact && got.bytes != want.bytes || got.last.Version != max(version, 0) {
			t.Errorf("%s: %+v, and there are %+v", when, got, want)
		}
		loaded, err := New(l.store).Load(ctx)
		if err != nil || loaded.tail.commits != want.commits || loaded.tail.bytes != want.bytes || loaded.tail.last != got.last {
			t.Errorf("%s, as loaded: %+v, %v, and there are %+v", when, loaded.tail, err, want)
		}
	}
	commit := func(name string) {
		t.Helper()
		tx := Transaction{ReadVersion: l.Head().Version, Blind: true}
		tx.Actions.Adds = []Add{{Path: name, Size: 1, DataChange: true, PartitionValues: map[string]*string{}}}
		if _, err := l.Commit(ctx, tx); err != nil {
			t.Fatal(err)
		}
	}
	check("loaded", -1, true)
	commit("second")
	f.commit(3, lineAdd("of another"))
	if _, err := l.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	check("own and others' commits", -1, true)
	for v := l.Head().Version; v < checkpointCommits-2; v++ {
		commit(fmt.Sprint(v))
	}
	asked.Store(0)
	if due, err := l.CheckpointDue(ctx); due || err != nil || asked.Load() != 0 {
		t.Errorf("99 commits: %v, %v, with %d requests", due, err, asked.Load())
	}
	commit("hundredth")
	asked.Store(0)
	if due, err := l.CheckpointDue(ctx); !due || err != nil || asked.Load() != 1 {
		t.Errorf("100 commits: %v, %v, with %d requests", due, err, asked.Load())
	}
	done, err := l.Checkpoint(ctx)
	if err != nil {
		t.Fatal(err)
	}
	check("written", done.Version, true)
	if last := l.Head().tail.last; last != done.said() || done.Files != 99 {
		t.Errorf("it knows %+v of %+v", last, done)
	}
	commit("behind it")
	check("a commit behind", done.Version, true)
	for range 2 * checkpointCommits {
		commit("more")
	}
	if _, err := f.log().Checkpoint(ctx); err != nil { // by another process
		t.Fatal(err)
	}
	of := l.Head().Version
	commit("behind that of another")
	if due, err := l.CheckpointDue(ctx); due || err != nil {
		t.Errorf("behind another's log checkpoint: %v, %v", due, err)
	}
	check("another's", of, false)
}

func TestWhatAnotherSaysOfItsLogCheckpointMayBeWrong(t *testing.T) {
	for body, want := range map[string]lastCheckpoint{
		`{"version":3,"size":4,"sizeInBytes":5,"numOfAddFiles":6}`: {3, 4, 5, 6},
		`{"version":3,"size":"4","sizeInBytes":null,"parts":2}`:    {Version: 3},
		`{"version":3,"size":-4,"sizeInBytes":-5}`:                 {Version: 3},
		`{"version":3,"size":9000000000000000000}`:                 {Version: 3, Size: 1 << 48},
		`{"version":-3,"size":4}`:                                  {},
		`{"size":4,"version":3`:                                    {},
		`{"version":"3"}`:                                          {},
		``:                                                         {},
	} {
		s := newMemStore()
		s.put("_last_checkpoint", body)
		if got, err := New(s).hint(context.Background()); err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	known := tail{commits: 10, bytes: 1000, last: lastCheckpoint{Version: 5, SizeInBytes: 9, Size: 8}}
	for version, want := range map[int64]tail{
		3: known, 5: known, 16: known, // older, the same, of a version that there is not
		11: {4, 400, lastCheckpoint{Version: 11, SizeInBytes: 9, Size: 8}},
		15: {0, 0, lastCheckpoint{Version: 15, SizeInBytes: 9, Size: 8}},
	} {
		if got := known.behind(lastCheckpoint{Version: version}, 15); got != want {
			t.Errorf("a log checkpoint of version %d: %+v", version, got)
		}
	}
}

func TestMemoryOfAStateIsWithoutTheStatisticsOfALogCheckpoint(t *testing.T) {
	for name, tt := range map[string]struct {
		tail        tail
		state, file int64
	}{
		"no table":                {tail{}, 0, sheetMemory},
		"commits":                 {tail{commits: 3, bytes: 1000}, 1000, 1000 + sheetMemory + 1500},
		"a million files":         {tail{1, 500, lastCheckpoint{9, 1_000_000, 600_000_000, 1_000_000}}, 256_000_500, 256_000_500 + sheetMemory + rowGroupMemory},
		"a few":                   {tail{0, 0, lastCheckpoint{9, 1000, 600_000, 1000}}, 256_000, 256_000 + sheetMemory + 900_000},
		"actions without a count": {tail{0, 0, lastCheckpoint{Version: 9, SizeInBytes: 600_000}}, 600_000, 600_000 + sheetMemory + 900_000},
	} {
		h := &Head{tail: tt.tail}
		if state, file := h.StateMemory(), h.CheckpointMemory(); state != tt.state || file != tt.file {
			t.Errorf("%s: %d and %d", name, state, file)
		}
	}
}

// TestMemoryOfALogCheckpoint looks at the heap while log checkpoints are written, from commits alone and behind another.
func TestMemoryOfALogCheckpoint(t *testing.T) {
	ctx := context.Background()
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // what the first one only let go of
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	f := newLogFolder(t)
	f.commit(0, lineProtocol, lineMetadata)
	version, files := int64(0), 0
	for _, n := range []int{1, 8, 8} { // commits of 500 files
		for range n {
			version++
			c := Commit{Version: version, Info: &CommitInfo{TxnID: "t"}}
			for range 500 {
				c.Adds = append(c.Adds, bigAdd(files))
				files++
			}
			body, err := c.Render()
			if err != nil {
				t.Fatal(err)
			}
			f.commit(version, string(body))
		}
		var before, peak int64
		store := local.New(f.dir)
		l := New(storage.Wrap(store, func(op *storage.Op, call func() error) error {
			if op.Name == "write" {
				peak = max(peak, heap())
			}
			return call()
		}))
		h, err := l.Load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		before = heap()
		done, err := l.Checkpoint(ctx)
		if err != nil || int(done.Files) != files {
			t.Fatalf("%+v, %v", done, err)
		}
		if took := peak - before; took > h.CheckpointMemory() {
			t.Errorf("%d files: it takes %d kB, and is to take %d kB at most", files, took/1000, h.CheckpointMemory()/1000)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
