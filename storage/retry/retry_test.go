package retry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/storage/storagetest"
)

var (
	errPassing  = errors.New("a passing fault")
	errTooMuch  = errors.New("slow down")
	errStaying  = errors.New("forbidden")
	errsPassing = []error{errPassing, errTooMuch}
)

func classify(err error) retry.Class {
	switch {
	case errors.Is(err, errPassing):
		return retry.Transient
	case errors.Is(err, errTooMuch):
		return retry.Throttled
	default:
		return retry.Final
	}
}

func TestConformance(t *testing.T) {
	storagetest.Conformance(t, func(t *testing.T) func() storage.Store {
		root := t.TempDir()
		return func() storage.Store { return retry.New(classify, retry.Policy{}).Wrap(local.New(root)) }
	})
}

// TestConformanceOverAFaultyStore fails each operation that may be made again, once before it takes effect.
func TestConformanceOverAFaultyStore(t *testing.T) {
	policy := retry.Policy{First: time.Microsecond, Longest: time.Microsecond}
	storagetest.Conformance(t, func(t *testing.T) func() storage.Store {
		root := t.TempDir()
		return func() storage.Store {
			n := 0
			faulty := storage.Wrap(local.New(root), func(op *storage.Op, call func() error) error {
				if n++; n%2 == 1 && op.Name != "put" && op.Name != "write" {
					return &storage.Error{Op: op.Name, Key: op.Key, Err: errPassing}
				}
				return call()
			})
			return retry.New(classify, policy).Wrap(faulty)
		}
	})
}

// failing fails the first operations of a kind, with each of the errors in turn.
func failing(s storage.Store, name string, errs ...error) (faulty storage.Store, calls *int) {
	calls = new(int)
	return storage.Wrap(s, func(op *storage.Op, call func() error) error {
		if op.Name != name {
			return call()
		}
		if *calls++; *calls <= len(errs) {
			return &storage.Error{Op: op.Name, Key: op.Key, Err: errs[*calls-1]}
		}
		return call()
	}), calls
}

func TestUnknownPutIsNotMadeAgain(t *testing.T) {
	for _, cause := range errsPassing {
		faulty, calls := failing(local.New(t.TempDir()), "put", cause)
		outcome, err := retry.New(classify, retry.Policy{}).Wrap(faulty).PutIfAbsent(t.Context(), "k", nil)
		if outcome != storage.Unknown || !errors.Is(err, cause) || *calls != 1 {
			t.Errorf("%v, %v after %d calls", outcome, err, *calls)
		}
	}
}

func TestFinalErrorsAreNotTriedAgain(t *testing.T) {
	faulty, calls := failing(local.New(t.TempDir()), "get", errStaying, errStaying)
	_, err := retry.New(classify, retry.Policy{}).Wrap(faulty).Get(t.Context(), "k")
	if !errors.Is(err, errStaying) || *calls != 1 {
		t.Errorf("%v after %d calls", err, *calls)
	}
}

func TestTriesEndWithThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			policy       retry.Policy
			calls        int
			atMost, more time.Duration
		}{
			"attempts": {retry.Policy{Attempts: 4, First: time.Second, Longest: time.Hour}, 4, 7 * time.Second, time.Second},
			"budget":   {retry.Policy{Attempts: 1000, First: time.Second, Longest: time.Second, Budget: time.Minute}, 0, time.Minute, 58 * time.Second},
		} {
			calls := 0
			begun := time.Now()
			err := retry.New(classify, c.policy).Do(t.Context(), func() error { calls++; return errPassing })
			took := time.Since(begun)
			if !errors.Is(err, errPassing) || c.calls > 0 && calls != c.calls || took > c.atMost || took < c.more {
				t.Errorf("%s: %v after %d calls in %v", name, err, calls, took)
			}
		}
	})
}

func TestOperationThatFailsForAWhileIsSaidUntilItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for failures, want := range map[int]int{1: 0, 4: 0, 5: 2, 8: 2} {
			var said []string
			failed := 0
			r := retry.New(classify, retry.Policy{
				Service: "the store", Outages: retry.NewOutages(func(text string) { said = append(said, text) }),
				Failed: func(err error) {
					if failed++; err != errPassing {
						t.Errorf("told of %v", err)
					}
				},
			})
			n := 0
			err := r.Do(t.Context(), func() error {
				if n++; n <= failures {
					return errPassing
				}
				return nil
			})
			if err != nil || len(said) != want || failed != failures {
				t.Errorf("%d failures: told of %d, said %q, %v", failures, failed, said, err)
			}
		}
	})
}

func TestPutsThatFailInARowAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outages := retry.NewOutages(nil)
		faulty, _ := failing(local.New(t.TempDir()), "put", slices.Repeat([]error{errPassing}, 5)...)
		store := retry.New(classify, retry.Policy{Service: "the store", Outages: outages}).Wrap(faulty)
		for try, want := range []bool{false, false, false, false, true, false} {
			_, _ = store.PutIfAbsent(t.Context(), "k", nil)
			if _, waiting := outages.Oldest(); waiting != want {
				t.Errorf("after try %d: %v, want %v", try+1, waiting, want)
			}
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		faulty, _ := failing(local.New(t.TempDir()), "get", slices.Repeat([]error{errPassing}, 50)...)
		_, err := retry.New(classify, retry.Policy{First: time.Hour, Longest: time.Hour, Budget: 100 * time.Hour}).Wrap(faulty).Get(ctx, "k")
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errPassing) || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		var e *storage.Error
		if !errors.As(err, &e) || e.Op != "get" || e.Key != "k" {
			t.Errorf("no operation and key in %v", err)
		}
	})
}

func TestNothingIsWaitedForWhileARunIsBeingStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, stop := context.WithCancel(t.Context())
		finish := storage.Finish(running)
		faulty, calls := failing(local.New(t.TempDir()), "get", slices.Repeat([]error{errTooMuch}, 50)...)
		s := retry.New(classify, retry.Policy{First: time.Hour, Longest: time.Hour, Budget: 100 * time.Hour}).Wrap(faulty)
		time.AfterFunc(time.Minute, stop)
		begun := time.Now()
		_, err := s.Get(finish, "k")
		if !errors.Is(err, errTooMuch) || time.Since(begun) != time.Minute || *calls != 1 {
			t.Errorf("%v after %v and %d calls", err, time.Since(begun), *calls)
		}
		_, err = s.Get(finish, "k") // what is begun now is tried once, at once
		if !errors.Is(err, errTooMuch) || time.Since(begun) != time.Minute || *calls != 2 {
			t.Errorf("%v after %v and %d calls", err, time.Since(begun), *calls)
		}
	})
}

func TestThrottledOperationSlowsAllDownAndSuccessSpeedsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := retry.New(classify, retry.Policy{First: time.Nanosecond, Longest: time.Nanosecond, Attempts: 6})
		duration := func(err error) time.Duration {
			begun := time.Now()
			_ = r.Do(t.Context(), func() error { return err })
			return time.Since(begun)
		}
		if d := duration(nil); d != 0 {
			t.Errorf("an operation at full speed waits %v", d)
		}
		_ = duration(errTooMuch)
		if d := duration(nil); d < 100*time.Millisecond {
			t.Errorf("after six refusals an operation waits only %v", d)
		}
		for range 100 {
			_ = duration(nil)
		}
		if d := duration(nil); d != 0 {
			t.Errorf("after a hundred successes an operation still waits %v", d)
		}
	})
}

func TestListingGoesOnBehindWhatWasSeen(t *testing.T) {
	inner := local.New(t.TempDir())
	for i := range 10 {
		if _, err := inner.PutIfAbsent(t.Context(), fmt.Sprintf("k%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	r := retry.New(classify, retry.Policy{First: time.Nanosecond, Longest: time.Nanosecond})
	var got []string
	err := r.Wrap(&breaking{Store: inner}).List(t.Context(), "k", "", func(i storage.Info) error {
		got = append(got, i.Key)
		return nil
	})
	if err != nil || len(got) != 10 || !slices.IsSorted(got) {
		t.Errorf("%v, %v", got, err)
	}
	stop := errors.New("stop")
	if err := r.Wrap(inner).List(t.Context(), "k", "", func(storage.Info) error { return stop }); err != stop {
		t.Errorf("fn's error came back as %v", err)
	}
}

// breaking breaks listings after three keys.
type breaking struct{ storage.Store }

func (b *breaking) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	n := 0
	var fnErr error
	err := b.Store.List(ctx, prefix, startAfter, func(i storage.Info) error {
		if n++; n > 3 {
			return errPassing
		}
		fnErr = fn(i)
		return fnErr
	})
	return errors.Join(fnErr, err)
}
