package retry

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// Wrap returns s with its operations made again as the package comment says.
func (r *Retrier) Wrap(s storage.Store) storage.Store { return &store{inner: s, retrier: r} }

type store struct {
	inner   storage.Store
	retrier *Retrier
}

func (s *store) URL() string  { return s.inner.URL() }
func (s *store) Close() error { return s.inner.Close() }

// Elsewhere is for storage.Elsewhere: the other store waits as this one does, and at its pace.
func (s *store) Elsewhere(root string) (storage.Store, error) {
	inner, err := storage.OpenElsewhere(s.inner, root)
	if err != nil {
		return nil, err
	}
	return s.retrier.Wrap(inner), nil
}

// do makes an operation again. A wait that was cut short says for which operation it was.
func (s *store) do(ctx context.Context, op, key string, fn func() error) error {
	return named(op, key, s.retrier.Do(ctx, fn))
}

// named gives the errors of a wait, which no backend has seen, the operation and the key.
func named(op, key string, err error) error {
	var known *storage.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &storage.Error{Op: op, Key: key, Err: err}
}

func (s *store) Get(ctx context.Context, key string) ([]byte, error) { return s.GetInto(ctx, key, nil) }

// GetInto is storage.GetInto.
func (s *store) GetInto(ctx context.Context, key string, buf []byte) (body []byte, err error) {
	err = s.do(ctx, "get", key, func() (err error) {
		body, err = storage.GetInto(ctx, s.inner, key, buf)
		return err
	})
	return body, err
}

func (s *store) Open(ctx context.Context, key string) (opened storage.Object, err error) {
	err = s.do(ctx, "open", key, func() error {
		inner, err := s.inner.Open(ctx, key)
		if err == nil {
			opened = &object{Object: inner, store: s, ctx: ctx, key: key}
		}
		return err
	})
	return opened, err
}

func (s *store) Stat(ctx context.Context, key string) (info storage.Info, err error) {
	err = s.do(ctx, "stat", key, func() (err error) {
		info, err = s.inner.Stat(ctx, key)
		return err
	})
	return info, err
}

// List goes on behind the last key that fn has seen. An error of fn ends it.
func (s *store) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	var fnErr error
	err := s.retrier.Do(ctx, func() error {
		err := s.inner.List(ctx, prefix, startAfter, func(info storage.Info) error {
			startAfter = info.Key
			fnErr = fn(info)
			return fnErr
		})
		if fnErr != nil {
			return nil
		}
		return err
	})
	if fnErr != nil {
		return fnErr
	}
	return named("list", prefix, err)
}

// PutIfAbsent is made once, whatever comes of it.
func (s *store) PutIfAbsent(ctx context.Context, key string, body []byte) (outcome storage.Outcome, err error) {
	err = named("put", key, s.retrier.once(ctx, func() (err error) {
		outcome, err = s.inner.PutIfAbsent(ctx, key, body)
		return err
	}))
	return outcome, err
}

func (s *store) Delete(ctx context.Context, key string) error {
	return s.do(ctx, "delete", key, func() error { return s.inner.Delete(ctx, key) })
}

func (s *store) DeleteAll(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return s.do(ctx, "delete all", keys[0], func() error { return s.inner.DeleteAll(ctx, keys) })
}

func (s *store) Stage(ctx context.Context, key string) (w storage.Staged, err error) {
	err = s.do(ctx, "stage", key, func() error {
		inner, err := s.inner.Stage(ctx, key)
		if err == nil {
			w = &staged{inner: inner, store: s, key: key}
		}
		return err
	})
	return w, err
}

func (s *store) Sweep(ctx context.Context, keep func(string) (bool, error)) (removed int, err error) {
	err = s.do(ctx, "sweep", "", func() error {
		n, err := s.inner.Sweep(ctx, keep)
		removed += n
		return err
	})
	return removed, err
}

// Unsettled may call fn for a key again.
func (s *store) Unsettled(ctx context.Context, fn func(string) error) (age time.Duration, err error) {
	var fnErr error
	err = s.do(ctx, "unsettled", "", func() (err error) {
		age, err = s.inner.Unsettled(ctx, func(key string) error {
			fnErr = fn(key)
			return fnErr
		})
		if fnErr != nil {
			return nil
		}
		return err
	})
	return age, cmp.Or(fnErr, err)
}

type object struct {
	storage.Object
	store *store
	ctx   context.Context // of Open: reads have none of their own
	key   string
}

func (o *object) ReadAt(p []byte, off int64) (n int, err error) {
	ended := false
	err = o.store.do(o.ctx, "read", o.key, func() (err error) {
		if n, err = o.Object.ReadAt(p, off); err == io.EOF {
			ended, err = true, nil
		}
		return err
	})
	if err == nil && ended {
		err = io.EOF
	}
	return n, err
}

type staged struct {
	inner storage.Staged
	store *store
	key   string
}

func (w *staged) Write(p []byte) (int, error) { return w.inner.Write(p) }

func (w *staged) Publish(ctx context.Context) error {
	return w.store.do(ctx, "publish", w.key, func() error { return w.inner.Publish(ctx) })
}

func (w *staged) Settle(ctx context.Context) error {
	return w.store.do(ctx, "settle", w.key, func() error { return w.inner.Settle(ctx) })
}

func (w *staged) Abort(ctx context.Context) error {
	return w.store.do(ctx, "abort", w.key, func() error { return w.inner.Abort(ctx) })
}
