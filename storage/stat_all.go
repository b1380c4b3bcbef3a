package storage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// statters is how many objects StatAll asks for at a time.
const statters = 16

// StatAll describes objects, in the order of their keys; one that is not there has the zero Info. It asks for several at once: in
// a bucket each is a request. Errors are those of Reader.Stat; of several it is that of the first key.
func StatAll(ctx context.Context, s Reader, keys []string) ([]Info, error) {
	infos, errs := make([]Info, len(keys)), make([]error, len(keys))
	var (
		running sync.WaitGroup
		next    atomic.Int64
		failed  atomic.Bool
	)
	for range min(statters, len(keys)) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(keys)) && !failed.Load(); i = next.Add(1) - 1 {
				infos[i], errs[i] = s.Stat(ctx, keys[i])
				if errs[i] != nil && !errors.Is(errs[i], ErrNotExist) {
					failed.Store(true)
				}
			}
		})
	}
	running.Wait()
	for i, err := range errs {
		switch {
		case errors.Is(err, ErrNotExist):
			infos[i] = Info{}
		case err != nil:
			return nil, err
		}
	}
	return infos, nil
}
