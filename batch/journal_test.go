package batch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/retry"
)

var errFirst, errSecond = errors.New("first"), errors.New("second")

// testJournal calls each error a kind of its own.
func testJournal(t *testing.T, now func() time.Time) *journal {
	return &journal{store: local.New(t.TempDir()), now: now, judge: func(err error) Verdict { return Verdict{Kind: err.Error(), Class: NeedsYou} }}
}

func (j *journal) mustRead(t *testing.T) *LastError {
	t.Helper()
	_, last, err := j.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestErrorIsSinceTheFirstOfItsUnbrokenRow(t *testing.T) {
	minute := 0
	at := func(m int) time.Time { return time.Date(2026, 3, 1, 12, m, 0, 0, time.UTC) }
	j := testJournal(t, func() time.Time { return at(minute) })
	for _, step := range []struct {
		err       error // nil: works
		committed int64
		since     int
	}{
		0:  {errFirst, 4, 0},
		1:  {errFirst, 4, 0},
		2:  {errFirst, unknownBatch, 0}, // a start that did not come to see the table
		3:  {errFirst, 4, 0},
		4:  {errFirst, 5, 4}, // a batch was committed in between
		5:  {errSecond, 5, 5},
		6:  {errSecond, 5, 5},
		7:  {nil, 5, 5},
		8:  {errSecond, 5, 8},
		9:  {errFirst, 5, 9},
		10: {nil, 5, 9},
		11: {nil, 5, 9},
	} {
		j.committed.Store(step.committed)
		state, err := Ended, error(nil)
		if step.err != nil {
			err = j.record(t.Context(), state, at(minute), step.err)
		} else {
			state, err = Over, j.over(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if last := j.mustRead(t); last.State != state || !last.Since.Equal(at(step.since)) {
			t.Errorf("minute %d: %s since %v, want %s since %v", minute, last.State, last.Since, state, at(step.since))
		}
		minute++
	}
}

func TestNewestErrorCountsThoughTheClockWentBack(t *testing.T) {
	now := time.Now()
	j := testJournal(t, func() time.Time { return now })
	for range 2 * keepEntries {
		now = now.Add(-time.Hour)
		if err := j.record(t.Context(), Ended, now, errFirst); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.record(t.Context(), Ended, now, errSecond); err != nil {
		t.Fatal(err)
	}
	keys, last, err := j.read(t.Context())
	if err != nil || last.Error != errSecond.Error() || len(keys) != keepEntries {
		t.Errorf("newest of %d: %v, %v", len(keys), last, err)
	}
}

func TestOutageThatLastsIsRecordedUntilItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := testJournal(t, time.Now)
		outages := retry.NewOutages(nil)
		ctx, cancel := context.WithCancel(t.Context())
		go j.follow(ctx, outages)
		begun := time.Now()
		outages.Report("reach it", begun, errFirst)
		time.Sleep(worthAnEntry - time.Second)
		if last := j.mustRead(t); last != nil {
			t.Errorf("recorded before it lasts: %+v", last)
		}
		time.Sleep(lookEvery + time.Second)
		first := j.mustRead(t)
		if first == nil || first.State != Waiting || first.Error != errFirst.Error() || !first.Since.Equal(begun.UTC().Truncate(time.Microsecond)) {
			t.Fatalf("%+v", first)
		}
		time.Sleep(2 * reminder)
		if again := j.mustRead(t); !again.Time.After(first.Time) || !again.Since.Equal(first.Since) {
			t.Errorf("no sign of life: %+v, then %+v", first, again)
		}
		outages.Over("reach it")
		time.Sleep(lookEvery)
		synctest.Wait()
		if last := j.mustRead(t); last.State != Over {
			t.Errorf("%+v", last)
		}
		cancel()
	})
}

func TestEntryWhosePutIsUnknownIsPutAgain(t *testing.T) {
	for _, stored := range []bool{false, true} {
		j := testJournal(t, time.Now)
		faults := 2
		j.store = storage.Wrap(j.store, func(op *storage.Op, call func() error) error {
			if op.Name != "put" || faults == 0 {
				return call()
			}
			if faults--; stored {
				if err := call(); err != nil {
					return err
				}
			}
			op.Outcome = storage.Unknown
			return errors.New("no answer")
		})
		if err := j.record(t.Context(), Ended, time.Now(), errors.New("a cause")); err != nil {
			t.Error(err)
		}
		keys, last, err := j.read(t.Context())
		if err != nil || len(keys) != 1 || last == nil || last.Error != "a cause" {
			t.Errorf("stored %t: entries %v, the newest is %+v, %v", stored, keys, last, err)
		}
	}
}
