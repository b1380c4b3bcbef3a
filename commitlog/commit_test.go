package commitlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/storage"
)

var testNow = time.UnixMilli(1_700_000_000_000)

func newTestLog(s storage.Store) *Log {
	l := New(s)
	l.now = func() time.Time { return testNow }
	return l
}

func testMetadata() *Metadata {
	return &Metadata{
		ID: "T", Format: Format{Provider: "parquet"},
		SchemaString: strings.ReplaceAll(lineSchema, `\`, ""),
	}
}

func testAdd(path string) Add {
	return Add{Path: path, Size: 10, ModificationTime: 1, DataChange: true}
}

// appending is batch n of app "a", made from version read.
func appending(read, n int64) Transaction {
	return Transaction{
		ReadVersion: read, AppID: "a", Batch: n, Blind: true,
		Actions: Commit{Adds: []Add{testAdd(fmt.Sprintf("a-%d.parquet", n))}},
	}
}

func creating() Transaction {
	tx := appending(NoTable, 0)
	tx.Actions.Protocol = &Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	tx.Actions.Metadata = testMetadata()
	return tx
}

// newTable is a store with a table of one batch, and its log.
func newTable(t testing.TB) (*memStore, *Log) {
	t.Helper()
	s := newMemStore()
	l := newTestLog(s)
	if _, err := l.Commit(context.Background(), creating()); err != nil {
		t.Fatal(err)
	}
	s.transcript()
	return s, l
}

// onFirstPut makes the first put end in a certain way, after doing before.
func onFirstPut(s *memStore, end putEnd, before func()) {
	first := true
	s.onPut = func(string, []byte) putEnd {
		if !first {
			return plainly
		}
		first = false
		before()
		return end
	}
}

func nothing() {}

// TestOrderOfStorageOperations is what a commit costs, in each way that it can go.
func TestOrderOfStorageOperations(t *testing.T) {
	foreign := func(s *memStore, version int64) func() {
		return func() { s.write(version, lineInfo("foreign"), lineAdd(fmt.Sprint("foreign-", version))) }
	}
	tests := []struct {
		name   string
		before func(s *memStore)
		want   Result
		ops    []string
	}{
		{"append", func(*memStore) {}, Result{Version: 1, Tries: 1}, []string{"put 1: stored"}},
		{"conflict", func(s *memStore) { onFirstPut(s, plainly, foreign(s, 1)) }, Result{Version: 2, Tries: 2}, []string{
			"put 1: exists", "get 1", "get 2: absent", "put 2: stored",
		}},
		{"three conflicts at once", func(s *memStore) {
			onFirstPut(s, plainly, func() { foreign(s, 1)(); foreign(s, 2)(); foreign(s, 3)() })
		}, Result{Version: 4, Tries: 2}, []string{
			"put 1: exists", "get 1", "get 2", "get 3", "get 4: absent", "put 4: stored",
		}},
		{"unknown and stored", func(s *memStore) { onFirstPut(s, lostAnswer, nothing) }, Result{Version: 1, Tries: 1, Recognised: true}, []string{
			"put 1: unknown", "get 1", "get 2: absent",
		}},
		{"unknown and absent", func(s *memStore) { onFirstPut(s, lostRequest, nothing) }, Result{Version: 1, Tries: 2}, []string{
			"put 1: unknown", "get 1: absent", "put 1: stored",
		}},
		{"unknown and another's", func(s *memStore) { onFirstPut(s, lostAnswer, foreign(s, 1)) }, Result{Version: 2, Tries: 2}, []string{
			"put 1: unknown", "get 1", "get 2: absent", "put 2: stored",
		}},
		{"refused because of itself", func(s *memStore) { onFirstPut(s, falselyRefused, nothing) }, Result{Version: 1, Tries: 1, Recognised: true}, []string{
			"put 1: exists", "get 1", "get 2: absent",
		}},
		{"unknown, absent, then stored late", func(s *memStore) {
			var late []byte
			s.onPut = func(key string, body []byte) putEnd {
				if late == nil {
					late = body
					return lostRequest
				}
				s.objects[key] = late
				s.onPut = nil
				return plainly
			}
		}, Result{Version: 1, Tries: 2, Recognised: true}, []string{
			"put 1: unknown", "get 1: absent", "put 1: exists", "get 1", "get 2: absent",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, l := newTable(t)
			tt.before(s)
			got, err := l.Commit(context.Background(), appending(0, 1))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.ops, s.transcript()); diff != "" {
				t.Error(diff)
			}
			if c := s.newest(t); c.Version != got.Version || c.Adds[0].Path != "a-1.parquet" {
				t.Errorf("newest commit is %+v", c)
			}
			if again, err := newTestLog(s).Load(context.Background()); err != nil || l.Head().Version != got.Version ||
				!cmp.Equal(again.Apps, l.Head().Apps) {
				t.Errorf("head in memory %+v, in the log %+v, %v", l.Head(), again, err)
			}
			s.transcript()
			if _, err := l.Commit(context.Background(), appending(got.Version, 2)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{fmt.Sprintf("put %d: stored", got.Version+1)}, s.transcript()); diff != "" {
				t.Errorf("the next commit: %s", diff)
			}
		})
	}
}

func TestABlindAppendMadeFromAnOldVersionCostsNoMore(t *testing.T) {
	s, l := newTable(t)
	for n := int64(1); n < 5; n++ {
		if _, err := l.Commit(context.Background(), appending(0, n)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"put 1: stored", "put 2: stored", "put 3: stored", "put 4: stored"}, s.transcript()); diff != "" {
		t.Error(diff)
	}
}

func TestCreate(t *testing.T) {
	s := newMemStore()
	l := newTestLog(s)
	got, err := l.Commit(context.Background(), creating())
	if err != nil || got != (Result{Version: 0, Tries: 1}) {
		t.Fatal(got, err)
	}
	if diff := cmp.Diff([]string{"get _last_checkpoint: absent", "list", "put 0: stored"}, s.transcript()); diff != "" {
		t.Error(diff)
	}
	c := s.newest(t)
	id := c.Info.TxnID
	want := fmt.Sprintf(`{"commitInfo":{"timestamp":1700000000000,"isolationLevel":"Serializable","isBlindAppend":true,"engineInfo":"Sluice","txnId":%q}}
{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"T","format":{"provider":"parquet","options":{}},"schemaString":"%s","partitionColumns":[],"configuration":{}}}
{"txn":{"appId":"a","version":0,"lastUpdated":1700000000000}}
{"add":{"path":"a-0.parquet","partitionValues":{},"size":10,"modificationTime":1,"dataChange":true}}
`, id, lineSchema)
	if diff := cmp.Diff(want, string(s.objects[commitKey(0)])); diff != "" {
		t.Error(diff)
	}
	if h := l.Head(); h.Apps["a"].TxnID != id || h.Schema() == nil {
		t.Errorf("head %+v", h)
	}
}

func TestCreateOutcomeUnknownIsRecognised(t *testing.T) {
	s := newMemStore()
	onFirstPut(s, lostAnswer, nothing)
	got, err := newTestLog(s).Commit(context.Background(), creating())
	if err != nil || got != (Result{Version: 0, Tries: 1, Recognised: true}) {
		t.Fatal(got, err)
	}
}

// foreignTable writes another's version 0.
func foreignTable(s *memStore) { s.write(0, lineInfo("foreign"), lineProtocol, lineMetadata) }

func TestLostCreateGoesOnIfValidateAgrees(t *testing.T) {
	for _, first := range []string{"before the start", "at the put"} {
		t.Run(first, func(t *testing.T) {
			s := newMemStore()
			if first == "at the put" {
				onFirstPut(s, plainly, func() { foreignTable(s) })
			} else {
				foreignTable(s)
			}
			tx := creating()
			var validated int64 = -5
			tx.Validate = func(h *Head) error { validated = h.Version; return nil }
			got, err := newTestLog(s).Commit(context.Background(), tx)
			if err != nil || got.Version != 1 || validated != 0 {
				t.Fatal(got, err, validated)
			}
			if c := s.newest(t); c.Protocol != nil || c.Metadata != nil || len(c.Adds) != 1 {
				t.Errorf("committed %+v", c)
			}
			if tx.Actions.Protocol == nil {
				t.Error("the caller's transaction was changed")
			}
		})
	}
}

func TestLostCreateEndsIfValidateRefuses(t *testing.T) {
	s := newMemStore()
	foreignTable(s)
	refusal := errors.New("other columns")
	tx := creating()
	tx.Validate = func(*Head) error { return refusal }
	if _, err := newTestLog(s).Commit(context.Background(), tx); err != refusal {
		t.Errorf("got %v", err)
	}
	tx.Validate = nil
	var conflict *ConflictError
	if _, err := newTestLog(s).Commit(context.Background(), tx); !errors.As(err, &conflict) {
		t.Errorf("without Validate: %v", err)
	}
	if c := s.newest(t); c.Version != 0 {
		t.Error("something was committed")
	}
}

func TestCommitWithoutTable(t *testing.T) {
	l := newTestLog(newMemStore())
	if _, err := l.Commit(context.Background(), appending(0, 1)); !errors.Is(err, ErrNoTable) {
		t.Errorf("append: %v", err)
	}
	tx := creating()
	tx.Actions.Metadata = nil
	if _, err := l.Commit(context.Background(), tx); !errors.Is(err, ErrNoTable) {
		t.Errorf("create without metadata: %v", err)
	}
}

func TestBatchCommittedByAnotherIsFenced(t *testing.T) {
	theirs := func(s *memStore, v, batch int64) {
		s.write(v, lineInfo("rival"), lineTxn("a", batch), lineAdd("rival"))
	}
	tests := map[string]func(s *memStore, l *Log){
		"at the put":        func(s *memStore, _ *Log) { onFirstPut(s, plainly, func() { theirs(s, 1, 1) }) },
		"by a later batch":  func(s *memStore, _ *Log) { onFirstPut(s, plainly, func() { theirs(s, 1, 8) }) },
		"after an unknown":  func(s *memStore, _ *Log) { onFirstPut(s, lostRequest, func() { theirs(s, 1, 1) }) },
		"known before":      func(s *memStore, l *Log) { theirs(s, 1, 1); _, _ = l.Refresh(context.Background()) },
		"behind an unknown": func(s *memStore, _ *Log) { onFirstPut(s, lostAnswer, func() { theirs(s, 1, 1) }) },
	}
	for name, before := range tests {
		t.Run(name, func(t *testing.T) {
			s, l := newTable(t)
			before(s, l)
			_, err := l.Commit(context.Background(), appending(0, 1))
			var fenced *FencedError
			if !errors.As(err, &fenced) {
				t.Fatal(err)
			}
			if fenced.AppID != "a" || fenced.Batch != 1 || fenced.Version != 1 || fenced.Winner.Info.TxnID != "rival" {
				t.Errorf("got %+v", fenced)
			}
			if c := s.newest(t); c.Version != 1 || c.Adds[0].Path != "rival" {
				t.Errorf("newest %+v", c)
			}
		})
	}
}

func TestBatchThatCoversOneCommittedByAnotherIsFenced(t *testing.T) {
	for covers, fences := range map[int64]bool{0: false, 1: false, 2: true, 3: true} {
		t.Run(fmt.Sprint(covers), func(t *testing.T) {
			s, l := newTable(t)
			s.write(1, lineInfo("rival"), lineTxn("a", 5))
			tx := appending(0, 7)
			tx.Covers = covers
			_, err := l.Commit(context.Background(), tx)
			if got := errors.As(err, new(*FencedError)); got != fences || !fences && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnknownOutcomeThatStaysUnknown(t *testing.T) {
	dead := errors.New("no route to host")
	tests := map[string]func(s *memStore, cancel func()){
		"nothing is ever stored": func(s *memStore, _ func()) { s.onPut = func(string, []byte) putEnd { return lostRequest } },
		"the read fails": func(s *memStore, _ func()) {
			onFirstPut(s, lostAnswer, func() { s.onGet = func(string) error { return dead } })
		},
		"refused and the read fails": func(s *memStore, _ func()) {
			onFirstPut(s, falselyRefused, func() { s.onGet = func(string) error { return dead } })
		},
		"cancelled during the put": func(s *memStore, cancel func()) { onFirstPut(s, lostAnswer, cancel) },
	}
	for name, before := range tests {
		t.Run(name, func(t *testing.T) {
			s, l := newTable(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			before(s, cancel)
			_, err := l.Commit(ctx, appending(0, 1))
			var unknown *UnknownError
			if !errors.As(err, &unknown) || unknown.Version != 1 || unknown.TxnID == "" {
				t.Fatalf("got %v", err)
			}

			// The same transaction again finds out, whatever happened meanwhile, and is committed once.
			s.onPut, s.onGet = nil, nil
			stored := s.objects[commitKey(1)] != nil
			s.write(map[bool]int64{true: 2, false: 1}[stored], lineInfo("foreign"), lineAdd("foreign"))
			tx := appending(0, 1)
			tx.Actions.Info = &CommitInfo{TxnID: unknown.TxnID}
			dead, kill := context.WithCancel(context.Background())
			kill()
			if _, err := newTestLog(s).Commit(dead, tx); !errors.As(err, new(*UnknownError)) {
				t.Errorf("asked again and cancelled: %v", err)
			}
			got, err := newTestLog(s).Commit(context.Background(), tx)
			if err != nil || got.Recognised != stored || got.Version != map[bool]int64{true: 1, false: 2}[stored] {
				t.Fatal(got, err)
			}
			if n := countPaths(t, s)["a-1.parquet"]; n != 1 {
				t.Errorf("committed %d times", n)
			}
		})
	}
}

func TestCancelledBeforeThePutIsNotCommitted(t *testing.T) {
	s, l := newTable(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Commit(ctx, appending(0, 1)); !errors.Is(err, context.Canceled) || errors.As(err, new(*UnknownError)) {
		t.Errorf("got %v", err)
	}
	if c := s.newest(t); c.Version != 0 {
		t.Error("committed")
	}
}

// countPaths counts the adds in the log by path.
func countPaths(t testing.TB, s *memStore) map[string]int {
	t.Helper()
	n := map[string]int{}
	err := New(s).Commits(context.Background(), 0, -1, func(c *Commit) error {
		for _, a := range c.Adds {
			n[a.Path]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
