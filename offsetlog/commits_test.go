package offsetlog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// planned is a store with the plans of batches 0 to 3, each made when the batch before the last was known to be committed.
func planned(t *testing.T) storage.Store {
	t.Helper()
	s := local.New(t.TempDir())
	l := open(t, s)
	for batch := range int64(4) {
		p := plan(batch)
		if batch > 1 {
			p.Committed = &offsetlog.Committed{Batch: batch - 2, Version: batch}
		}
		if _, err := l.Append(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func end(t *testing.T, s storage.Store, batch int64) {
	t.Helper()
	if err := open(t, s).End(t.Context(), offsetlog.Committed{Batch: batch, Version: batch + 100}); err != nil {
		t.Fatal(err)
	}
}

func commits(t *testing.T, s storage.Store) (keys []string) {
	t.Helper()
	err := s.List(t.Context(), "commits/", "", func(info storage.Info) error { keys = append(keys, info.Key); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

const commit = "commits/0000000000000000000"

func TestCleanEndIsRememberedBesideThePlans(t *testing.T) {
	s := planned(t)
	if got, want := open(t, s).Committed(), (&offsetlog.Committed{Batch: 1, Version: 3}); !cmp.Equal(got, want) {
		t.Errorf("before an end: %v, want %v", got, want)
	}
	for _, step := range []struct{ ended, known int64 }{{2, 2}, {3, 3}, {3, 3}, {1, 3}} {
		end(t, s, step.ended)
		if got, want := open(t, s).Committed(), (&offsetlog.Committed{Batch: step.known, Version: step.known + 100}); !cmp.Equal(got, want) {
			t.Errorf("after an end at batch %d: %v, want %v", step.ended, got, want)
		}
	}
	if diff := cmp.Diff([]string{commit + "3"}, commits(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestCleanEndOfAnotherCheckpointDoesNotCount(t *testing.T) {
	s := planned(t)
	end(t, s, 3)
	adopted := plan(2)
	adopted.Pipeline, adopted.First, adopted.Adopted = "p", 2, &offsetlog.Adopted{Checkpoint: "c"}
	if err := offsetlog.Adopt(t.Context(), s, adopted); err != nil {
		t.Fatal(err)
	}
	if got := open(t, s).Committed(); got != nil {
		t.Errorf("%v is known", got)
	}
	end(t, s, 2)
	if diff := cmp.Diff([]string{commit + "2"}, commits(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestPlanOfACommittedBatchThatIsMissingIsAnError(t *testing.T) {
	s := planned(t)
	end(t, s, 3)
	if err := s.Delete(t.Context(), "offsets/00000000000000000003"); err != nil {
		t.Fatal(err)
	}
	_, err := offsetlog.Open(t.Context(), s, "p")
	var corrupt *offsetlog.CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "offsets/00000000000000000003: it is missing, though batch 3 was committed as version 103") {
		t.Errorf("got %v", err)
	}
}

func TestDamagedRecordOfACleanEndIsAnError(t *testing.T) {
	for name, body := range map[string]string{"cut short": `{"checkpoint":"c","ba`, "another name": `{"checkpoint":"c","batch":2,"version":1}`} {
		s := planned(t)
		if _, err := s.PutIfAbsent(t.Context(), commit+"3", []byte(body)); err != nil {
			t.Fatal(err)
		}
		_, err := offsetlog.Open(t.Context(), s, "p")
		var corrupt *offsetlog.CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), commit+"3: it is damaged") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestCleanEndNeverLiesWhereverItStops dies at, or is lied to about, each operation.
func TestCleanEndNeverLiesWhereverItStops(t *testing.T) {
	for _, mode := range []storagetest.Mode{storagetest.Before, storagetest.After, storagetest.Lost} {
		for at := 0; ; at++ {
			s := planned(t)
			end(t, s, 2)
			crash := &storagetest.Crash{At: at, Mode: mode}
			dying, err := offsetlog.Open(t.Context(), crash.Wrap(s), "p")
			if err == nil {
				err = dying.End(t.Context(), offsetlog.Committed{Batch: 3, Version: 103})
			}
			got := open(t, s).Committed()
			if got == nil || got.Version != got.Batch+100 && got.Batch != 1 {
				t.Errorf("%s: %v is known", crash.Op, got)
			}
			if err == nil && got.Batch != 3 {
				t.Errorf("%s: no error, and %v is known", crash.Op, got)
			}
			end(t, s, 3)
			if diff := cmp.Diff([]string{commit + "3"}, commits(t, s)); diff != "" {
				t.Errorf("%s: %s", crash.Op, diff)
			}
			if !crash.Happened() {
				break
			}
		}
	}
}
