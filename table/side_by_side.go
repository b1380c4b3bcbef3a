package table

import (
	"sync"
	"sync/atomic"
)

// sideBySide calls do for 0 to n-1, so many at a time at most, and returns an error of the first that has one. It goes on
// after an error.
func sideBySide(workers, n int, do func(int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			errs[i] = do(i)
		}
	}
	var others sync.WaitGroup
	for range min(workers, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
