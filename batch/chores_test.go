package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/storage/local"
)

func TestWhatMaintenanceHasDoneIsKnownToTheNextRun(t *testing.T) {
	folder := t.TempDir()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	judge := func(err error) Verdict { return Verdict{Kind: err.Error(), Class: Retrying, Remedy: "wait"} }
	open := func() *chores {
		return &chores{entries: entries{local.New(folder), choreFolder}, judge: judge, now: func() time.Time { return now }}
	}
	first := open()
	for _, m := range []Maintained{
		{Work: "vacuum", Table: "a", Version: 3, Files: 4, Bytes: 5, Took: 2 * time.Second},
		{Work: "vacuum", Table: "b", Err: errSecond},
		{Work: "compact", Table: "a", Version: 4, Files: 2, Bytes: 9, Took: time.Second},
		{Work: "vacuum", Table: "a", Err: errFirst},
		{Work: "vacuum", Table: "b", Version: 7},
	} {
		if err := first.take(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, 12+hour, 0, 0, 0, time.UTC) }
	want := []Chore{
		{"vacuum", "a", &ChoreDone{at(0), 3, 4, 5, 2}, &ChoreFailed{at(3), "first", Verdict{"first", Retrying, "wait"}}},
		{"vacuum", "b", &ChoreDone{at(4), 7, 0, 0, 0}, nil},
		{"compact", "a", &ChoreDone{at(2), 4, 2, 9, 1}, nil},
		{"checkpoint", "a", nil, nil},
	}
	for name, c := range map[string]*chores{"this run": first, "the next": open()} {
		for _, w := range want {
			got, err := c.of(t.Context(), w.Work, w.Table)
			if diff := cmp.Diff(w, got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
	}
}

// TestATornEntryOfMaintenanceIsPassedOver leaves the newest entry in parts, and many older ones.
func TestATornEntryOfMaintenanceIsPassedOver(t *testing.T) {
	folder := t.TempDir()
	c := &chores{entries: entries{local.New(folder), choreFolder}, now: time.Now}
	for i := range 2 * keepEntries {
		if err := c.take(t.Context(), &Maintained{Work: "compact", Table: "a", Version: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(folder, choreFolder, "*.json"))
	if err != nil || len(names) != keepEntries {
		t.Fatalf("%d entries, %v", len(names), err)
	}
	newest := names[len(names)-1]
	if err := errors.Join(os.Remove(newest), os.WriteFile(newest, []byte(`[{"work":`), 0o666)); err != nil {
		t.Fatal(err)
	}
	got, err := (&chores{entries: c.entries, now: time.Now}).of(t.Context(), "compact", "a")
	if err != nil || got.Done == nil || got.Done.Version != 2*keepEntries-2 {
		t.Errorf("%s, %v", fmt.Sprint(got.Done), err)
	}
}
