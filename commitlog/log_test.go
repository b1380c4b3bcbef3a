package commitlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/storage"
)

func TestLoadWithoutTable(t *testing.T) {
	s := newMemStore()
	s.put("00000000000000000000.crc", "{}")
	s.put("0000000000000000000.json", "nineteen digits")
	s.put(".tmp-1", "x")
	s.put("00000000000000000000.json.tmp", "x")
	s.put("_commit_1.json.tmp", "x")
	l := New(s)
	if l.Head() != nil {
		t.Error("a head before Load")
	}
	if _, err := l.Load(context.Background()); !errors.Is(err, ErrNoTable) {
		t.Errorf("Load: %v", err)
	}
	if _, err := l.Refresh(context.Background()); !errors.Is(err, ErrNoTable) {
		t.Errorf("Refresh: %v", err)
	}
	if _, err := l.Files(context.Background(), -1); !errors.Is(err, ErrNoTable) {
		t.Errorf("Files: %v", err)
	}
	if err := l.Commits(context.Background(), 0, -1, nil); !errors.Is(err, ErrNoTable) {
		t.Errorf("Commits: %v", err)
	}
}

func TestVersion0WithoutWhatItHasToBeginWith(t *testing.T) {
	for want, versions := range map[string][]string{
		"no protocol action": {lineMetadata, lineProtocol},
		"no metaData action": {lineProtocol, lineMetadata},
	} {
		s := newMemStore()
		for v, lines := range versions {
			s.write(int64(v), lines)
		}
		_, err := New(s).Load(context.Background())
		if !errors.As(err, new(*CorruptError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		_, files := New(s).Files(context.Background(), -1)
		if fmt.Sprint(files) != fmt.Sprint(err) {
			t.Errorf("Files: %v", files)
		}
	}
}

func TestRefreshReadsWhatIsNew(t *testing.T) {
	for _, test := range []struct {
		commits int64 // of others
		pause   time.Duration
		want    []string
	}{
		{0, 0, []string{"get 1: absent"}},
		{1, trustHead, []string{"get 1", "get 2: absent"}},
		{5, 0, []string{"get 1", "get 2", "get 3", "get 4", "get 5", "get 6: absent"}},
		{0, trustHead + 1, []string{"get 0", "get 1: absent"}},
		{1, trustHead + 1, []string{"get 0", "get 1", "get 2: absent"}},
	} {
		s, l := newTable(t)
		for v := int64(1); v <= test.commits; v++ {
			s.write(v, lineInfo(fmt.Sprint("w", v)), lineTxn("b", v))
		}
		l.now = func() time.Time { return testNow.Add(test.pause) }
		h, err := l.Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, s.transcript()); diff != "" {
			t.Errorf("%d commits, %v later: %s", test.commits, test.pause, diff)
		}
		if h.Version != test.commits || h != l.Head() {
			t.Errorf("%d commits: head %+v", test.commits, h)
		}
		if app := h.Apps["b"]; test.commits > 0 && (app.Batch != test.commits || app.UserMetadata != fmt.Sprint("by w", test.commits)) {
			t.Errorf("%d commits: %+v", test.commits, app)
		}
		// what has just been seen is not looked at again
		if _, err := l.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want[len(test.want)-1:], s.transcript()); diff != "" {
			t.Errorf("%d commits, %v later, again: %s", test.commits, test.pause, diff)
		}
	}
}

func TestAHeadNeverChanges(t *testing.T) {
	s, l := newTable(t)
	before := l.Head()
	s.write(1, lineInfo("w"), lineTxn("a", 7), lineTxn("b", 4), lineAdd("x"))
	if _, err := l.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if before.Version != 0 || before.Apps["a"].Batch != 0 || len(before.Apps) != 1 {
		t.Errorf("it became %+v", before)
	}
}

func TestRefreshNoticesATableThatIsNotTheSame(t *testing.T) {
	later := func(l *Log) { l.now = func() time.Time { return testNow.Add(trustHead + time.Second) } }
	grow := func(t *testing.T, s *memStore, l *Log) {
		t.Helper()
		for n := int64(1); n <= 3; n++ {
			if _, err := l.Commit(context.Background(), appending(n-1, n)); err != nil {
				t.Fatal(err)
			}
		}
		s.transcript()
	}
	t.Run("rolled back", func(t *testing.T) {
		s, l := newTable(t)
		grow(t, s, l)
		s.drop(2)
		s.drop(3)
		later(l)
		h, err := l.Refresh(context.Background())
		if err != nil || h.Version != 1 || h.Apps["a"].Batch != 1 {
			t.Fatal(h, err)
		}
	})
	t.Run("replaced by a longer one", func(t *testing.T) {
		s, l := newTable(t)
		grow(t, s, l)
		other := strings.ReplaceAll(lineMetadata, `"id":"T"`, `"id":"U"`)
		s.write(0, lineInfo("u"), lineProtocol, other)
		for v := int64(1); v < 6; v++ {
			s.write(v, lineInfo("u"), lineAdd(fmt.Sprint(v)))
		}
		later(l)
		h, err := l.Refresh(context.Background())
		if err != nil || h.Version != 5 || h.Metadata.ID != "U" || len(h.Apps) != 0 {
			t.Fatal(h, err)
		}
	})
	t.Run("gone", func(t *testing.T) {
		s, l := newTable(t)
		s.drop(0)
		later(l)
		if _, err := l.Refresh(context.Background()); !errors.Is(err, ErrNoTable) || l.Head() != nil {
			t.Errorf("got %v, head %v", err, l.Head())
		}
	})
	t.Run("cleaned up", func(t *testing.T) {
		s, l := newTable(t)
		s.drop(0)
		s.write(5, lineInfo("w"))
		s.put("00000000000000000005.checkpoint.parquet", cpBytes(t, cpHead()))
		later(l)
		if h, err := l.Refresh(context.Background()); err != nil || h.Version != 5 {
			t.Errorf("got %v, %v", h, err)
		}
	})
}

func TestCommitAfterALongPauseLooksFirst(t *testing.T) {
	s, l := newTable(t)
	l.now = func() time.Time { return testNow.Add(trustHead + time.Second) }
	s.drop(0)
	s.write(5, lineInfo("w"))
	s.put("00000000000000000005.checkpoint.parquet", cpBytes(t, append(cpHead(), cpRow{Txn: &cpTxn{"a", 1, nil}})))
	var fenced *FencedError
	if _, err := l.Commit(context.Background(), appending(0, 1)); !errors.As(err, &fenced) || fenced.Version != 5 || fenced.Winner != nil {
		t.Errorf("batch 1, which a log checkpoint tells of: %v", err)
	}
	tx := appending(0, 2)
	tx.Validate = func(*Head) error { return nil } // since a checkpoint does not tell when the metadata was last changed
	if got, err := l.Commit(context.Background(), tx); err != nil || got.Version != 6 {
		t.Errorf("batch 2: %v, %v", got, err)
	}
	if s.objects[commitKey(1)] != nil {
		t.Error("version 1 was put under a cleaned log")
	}
}

func TestCommitToATableThatWentBackIsAConflict(t *testing.T) {
	s, l := newTable(t)
	if _, err := l.Commit(context.Background(), appending(0, 1)); err != nil {
		t.Fatal(err)
	}
	s.drop(1)
	l.now = func() time.Time { return testNow.Add(trustHead + time.Second) }
	if _, err := l.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Commit(context.Background(), appending(1, 2)); !errors.As(err, new(*ConflictError)) {
		t.Errorf("got %v", err)
	}
}

func TestCommitThatIsRefusedAndThenGoneStartsOver(t *testing.T) {
	s, l := newTable(t)
	onFirstPut(s, plainly, func() {
		s.write(1, lineInfo("w"), lineAdd("w"))
		first := true
		s.onGet = func(key string) error {
			if key == commitKey(1) && first {
				first = false
				return storage.ErrNotExist
			}
			return nil
		}
	})
	got, err := l.Commit(context.Background(), appending(0, 1))
	if err != nil || got.Version != 2 {
		t.Fatal(got, err)
	}
	if diff := cmp.Diff([]string{"put 1: exists", "get _last_checkpoint: absent", "list", "get 0", "get 1", "get 1", "put 2: stored"}, sortedGets(s.transcript())); diff != "" {
		t.Error(diff)
	}
}

// sortedGets puts gets that are done side by side into order.
func sortedGets(ops []string) []string {
	for i := 1; i < len(ops); i++ {
		for j := i; j > 0 && strings.HasPrefix(ops[j], "get") && strings.HasPrefix(ops[j-1], "get") && ops[j] < ops[j-1]; j-- {
			ops[j], ops[j-1] = ops[j-1], ops[j]
		}
	}
	return ops
}

func TestLoadStartsOverWhenCleanedUpMeanwhile(t *testing.T) {
	s, _ := newTable(t)
	s.write(1, lineInfo("w"), lineAdd("w"))
	first := true
	var mu sync.Mutex
	s.onGet = func(key string) error {
		mu.Lock()
		defer mu.Unlock()
		if key == commitKey(1) && first {
			first = false
			return storage.ErrNotExist
		}
		return nil
	}
	h, err := New(s).Load(context.Background())
	if err != nil || h.Version != 1 {
		t.Fatal(h, err)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	const writers, batches = 8, 50
	s, shared := newTable(t)
	tests := map[string]func() *Log{
		"each with a log of its own": func() *Log { return New(s) },
		"all through one log":        func() *Log { return shared },
	}
	rounds := 0
	for name, open := range tests {
		rounds++
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					l := open()
					app := fmt.Sprintf("%s-%d", name, w)
					for n := range int64(batches) {
						tx := Transaction{AppID: app, Batch: n, Blind: true, Actions: Commit{Adds: []Add{testAdd(fmt.Sprintf("%s-%d", app, n))}}}
						if h := l.Head(); h != nil {
							tx.ReadVersion = h.Version
						}
						if _, err := l.Commit(context.Background(), tx); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			h, err := New(s).Load(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(rounds * writers * batches); h.Version != want {
				t.Errorf("version %d, want %d", h.Version, want)
			}
			for w := range writers {
				if app := fmt.Sprintf("%s-%d", name, w); h.Apps[app].Batch != batches-1 {
					t.Errorf("%s is at %+v", app, h.Apps[app])
				}
			}
			for path, n := range countPaths(t, s) {
				if n != 1 {
					t.Errorf("%s was added %d times", path, n)
				}
			}
		})
	}
}

func TestManyProcessesOfOnePipelineCommitEachBatchOnce(t *testing.T) {
	const batches = 50
	s, _ := newTable(t)
	var wg sync.WaitGroup
	for p := range 4 {
		wg.Go(func() {
			l := New(s)
			for n := int64(1); n <= batches; n++ {
				tx := appending(0, n)
				tx.Actions.Adds = []Add{testAdd(fmt.Sprintf("process-%d-%d", p, n))}
				if _, err := l.Commit(context.Background(), tx); err != nil && !errors.As(err, new(*FencedError)) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	var committed []int64
	err := New(s).Commits(context.Background(), 1, -1, func(c *Commit) error {
		committed = append(committed, c.Txns[0].Version)
		return nil
	})
	if err != nil || len(committed) != batches {
		t.Fatalf("%v, %v", committed, err)
	}
	for i, n := range committed {
		if n != int64(i+1) {
			t.Errorf("version %d has batch %d", i+1, n)
		}
	}
}
