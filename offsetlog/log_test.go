package offsetlog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
)

const entry = "offsets/0000000000000000000%d"

func plan(batch int64) offsetlog.Plan {
	return offsetlog.Plan{
		Batch: batch, Time: time.UnixMicro(1_700_000_000_000_000 + batch).UTC(), Fingerprint: "f",
		Ranges: []offsetlog.Range{{Partition: "t/0", ID: "id", From: batch * 10, To: batch*10 + 10}},
	}
}

func open(t *testing.T, s storage.Store) *offsetlog.Log {
	t.Helper()
	l, err := offsetlog.Open(t.Context(), s, "p")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func fill(t *testing.T, s storage.Store, n int64) *offsetlog.Log {
	t.Helper()
	l := open(t, s)
	for batch := range n {
		if _, err := l.Append(t.Context(), plan(batch)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func put(t *testing.T, s storage.Store, key string, body []byte) {
	t.Helper()
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if outcome, err := s.PutIfAbsent(t.Context(), key, body); outcome != storage.Stored {
		t.Fatal(outcome, err)
	}
}

func TestPlansAreReadBackAsAppended(t *testing.T) {
	s := local.New(t.TempDir())
	fill(t, s, 5)
	l := open(t, s)
	if got := len(l.Plans()); got != 5 {
		t.Fatalf("%d plans", got)
	}
	for batch := range int64(5) {
		want := plan(batch)
		want.Pipeline, want.Checkpoint = "p", l.Newest().Checkpoint
		if diff := cmp.Diff(want, *l.Plan(batch)); diff != "" {
			t.Error(diff)
		}
	}
	if l.Plan(5) != nil || l.Plan(-1) != nil {
		t.Error("plans beyond the log")
	}
}

func TestSecondProcessGetsTheFirstOnesPlan(t *testing.T) {
	s := local.New(t.TempDir())
	fill(t, s, 2)
	a, b := open(t, s), open(t, s)
	first := plan(2)
	if _, err := a.Append(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := plan(2)
	second.Ranges[0].To = 999
	got, err := b.Append(t.Context(), second)
	if err != nil || got.Ranges[0].To != 30 {
		t.Errorf("got %v, %v; want the first process's ranges", got.Ranges, err)
	}
}

func TestAppendAfterUnknownOutcomeRecognisesItsOwnPlan(t *testing.T) {
	for _, mode := range []storagetest.Mode{storagetest.Lost} {
		s := local.New(t.TempDir())
		fill(t, s, 1)
		crash := &storagetest.Crash{At: -1, Mode: mode}
		l := open(t, crash.Wrap(s))
		crash.At = crash.Ops()
		got, err := l.Append(t.Context(), plan(1))
		if err != nil || got.Batch != 1 || !crash.Happened() {
			t.Errorf("%v: %v, %v", mode, got, err)
		}
		if got := len(open(t, s).Plans()); got != 2 {
			t.Errorf("%d plans", got)
		}
	}
}

func TestTornNewestEntryIsDroppedAndSaid(t *testing.T) {
	whole, err := plan(3).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		s := local.New(t.TempDir())
		fill(t, s, 3)
		put(t, s, fmt.Sprintf(entry, 3), whole[:cut])
		l := open(t, s)
		if len(l.Plans()) != 3 || len(l.Notices()) != 1 {
			t.Fatalf("cut at %d: %d plans, notices %v", cut, len(l.Plans()), l.Notices())
		}
		if _, err := l.Append(t.Context(), plan(3)); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

func TestFaultyLogsAreRefusedByEntry(t *testing.T) {
	foreign := plan(1)
	foreign.Pipeline = "other"
	otherCheckpoint := plan(1)
	otherCheckpoint.Pipeline, otherCheckpoint.Checkpoint = "p", "x"
	renamed := plan(7)
	renamed.Pipeline = "p"
	encode := func(p offsetlog.Plan) []byte { b, _ := p.Encode(); return b }
	tests := map[string]struct {
		spoil func(s storage.Store)
		want  []string
	}{
		"hole":                {func(s storage.Store) { _ = s.Delete(t.Context(), fmt.Sprintf(entry, 1)) }, []string{"000001", "missing"}},
		"older entry torn":    {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 1), encode(plan(1))[:30]) }, []string{"000001", "ends too early"}},
		"older entry damaged": {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 1), flip(encode(plan(1)))) }, []string{"000001", "checksum"}},
		"newest damaged":      {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 3), flip(encode(plan(3)))) }, []string{"000003", "checksum"}},
		"foreign pipeline":    {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 1), encode(foreign)) }, []string{"000001", `"other"`}},
		"foreign checkpoint":  {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 1), encode(otherCheckpoint)) }, []string{"000001", "checkpoint x"}},
		"renamed":             {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 1), encode(renamed)) }, []string{"000001", "batch 7"}},
		"garbage":             {func(s storage.Store) { put(t, s, fmt.Sprintf(entry, 1), []byte("v1\n{}")) }, []string{"000001", "not an offset log entry"}},
		"future format": {func(s storage.Store) {
			put(t, s, fmt.Sprintf(entry, 1), []byte("sluice offsets 2 sha256:abc\n{}\n"))
		}, []string{"000001", "format 2", "newer"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := local.New(t.TempDir())
			fill(t, s, 4)
			test.spoil(s)
			_, err := offsetlog.Open(t.Context(), s, "p")
			var corrupt *offsetlog.CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatalf("Open: %v, want a CorruptError", err)
			}
			for _, want := range append(test.want, s.URL()) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
		})
	}
}

func flip(b []byte) []byte {
	b[len(b)-5] ^= 1
	return b
}

func TestPruneNeverLeavesAHoleWhereverItStops(t *testing.T) {
	for k := range 12 {
		s := local.New(t.TempDir())
		l := fill(t, s, 8)
		pruning := plan(8)
		pruning.First = 5
		if _, err := l.Append(t.Context(), pruning); err != nil {
			t.Fatal(err)
		}
		crash := &storagetest.Crash{At: -1}
		dying := open(t, crash.Wrap(s))
		crash.At = crash.Ops() + k
		err := dying.Prune(t.Context())
		if !crash.Happened() && err != nil {
			t.Fatal(err)
		}
		if got := open(t, s).Plans(); len(got) != 4 || got[0].Batch != 5 {
			t.Fatalf("k=%d: %d plans from %d", k, len(got), got[0].Batch)
		}
	}
}

func TestOpenLooksAgainWhereAnotherProcessPrunesMeanwhile(t *testing.T) {
	inner := local.New(t.TempDir())
	other := fill(t, inner, 5)
	pruned := false
	busy := storage.Wrap(inner, func(op *storage.Op, call func() error) error {
		if op.Name == "get" && !pruned {
			pruned = true
			next := plan(5)
			next.First = 4
			if _, err := other.Append(t.Context(), next); err != nil {
				t.Error(err)
			}
			if err := other.Prune(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return call()
	})
	if l := open(t, busy); l.Newest().Batch != 5 || l.Plans()[0].Batch != 4 {
		t.Errorf("plans %d to %d, want 4 to 5", l.Plans()[0].Batch, l.Newest().Batch)
	}
}

func TestEntryWrittenBelowThePrunedOnesDoesNotCount(t *testing.T) {
	s := local.New(t.TempDir())
	sleeper := fill(t, s, 3)
	l := open(t, s)
	for batch := int64(3); batch < 9; batch++ {
		p := plan(batch)
		p.First = max(0, batch-2)
		if _, err := l.Append(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := l.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	late := plan(3)
	late.Ranges[0].Partition = "never/0"
	if _, err := sleeper.Append(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	for _, p := range open(t, s).Plans() {
		if p.Ranges[0].Partition == "never/0" {
			t.Error("the sleeper's plan counts")
		}
	}
}

func TestAdoptReplacesTheLogWhereverItStops(t *testing.T) {
	for k := 0; ; k++ {
		s := local.New(t.TempDir())
		fill(t, s, 3)
		adopted := plan(7)
		adopted.Pipeline, adopted.Adopted = "p", &offsetlog.Adopted{Checkpoint: "old"}
		crash := &storagetest.Crash{At: k}
		err := offsetlog.Adopt(t.Context(), crash.Wrap(s), adopted)
		l := open(t, s)
		if newest := l.Newest(); newest != nil && newest.Batch > 2 && (newest.Batch != 7 || len(l.Plans()) != 1) {
			t.Fatalf("k=%d: %d plans, newest %d", k, len(l.Plans()), newest.Batch)
		}
		if err != nil {
			if err := offsetlog.Adopt(t.Context(), s, adopted); err != nil {
				t.Fatalf("k=%d: again: %v", k, err)
			}
		}
		l = open(t, s)
		if l.Newest().Batch != 7 || l.Newest().Adopted == nil {
			t.Fatalf("k=%d: newest %+v", k, l.Newest())
		}
		if _, err := l.Append(t.Context(), plan(8)); err != nil {
			t.Fatal(err)
		}
		if !crash.Happened() {
			return
		}
	}
}

func FuzzDecode(f *testing.F) {
	whole, _ := plan(3).Encode()
	f.Add(whole)
	f.Add(whole[:20])
	f.Add([]byte("sluice offsets 1 crc32c:00000000 0\n"))
	f.Add([]byte("v1\n{}\n-"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := offsetlog.Decode(data)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := offsetlog.Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, back); diff != "" && p.Time.Nanosecond()%1000 == 0 {
			t.Error(diff)
		}
	})
}
