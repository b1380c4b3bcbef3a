package storage

import (
	"context"
	"time"
)

// Op is one operation on a store as a wrapper sees it. Reading an open object and writing a staged one are operations
// too ("read", "write").
type Op struct {
	Name string // get, open, read, stat, list, put, delete, delete all, stage, write, publish, settle, abort, sweep, unsettled
	Key  string
	// Keys are those of a "delete all", whose Key is the first. A hook may shorten them before the call.
	Keys []string
	// Body is what a put or a write is about to store. A hook may replace it before the call.
	Body []byte
	// Outcome is the answer of a put, after the call. A hook may replace it.
	Outcome Outcome
}

// Hook stands around an operation: it makes it by calling call, or doesn't, and its error is the operation's.
type Hook func(op *Op, call func() error) error

// Wrap returns s with hook around each of its operations, except URL and Close. Transcripts, faults, crashes and counts
// are hooks.
func Wrap(s Store, hook Hook) Store { return &wrapped{inner: s, hook: hook} }

type wrapped struct {
	inner Store
	hook  Hook
}

func (w *wrapped) URL() string  { return w.inner.URL() }
func (w *wrapped) Close() error { return w.inner.Close() }

// Elsewhere puts the hook around the other store, too, whose keys it then hears of.
func (w *wrapped) Elsewhere(root string) (Store, error) {
	inner, err := OpenElsewhere(w.inner, root)
	if err != nil {
		return nil, err
	}
	return Wrap(inner, w.hook), nil
}

func (w *wrapped) Get(ctx context.Context, key string) ([]byte, error) {
	return w.GetInto(ctx, key, nil)
}

// GetInto is storage.GetInto; to a hook it is a get.
func (w *wrapped) GetInto(ctx context.Context, key string, buf []byte) (body []byte, err error) {
	err = w.hook(&Op{Name: "get", Key: key}, func() (err error) {
		body, err = GetInto(ctx, w.inner, key, buf)
		return err
	})
	return body, err
}

func (w *wrapped) Open(ctx context.Context, key string) (object Object, err error) {
	err = w.hook(&Op{Name: "open", Key: key}, func() error {
		inner, err := w.inner.Open(ctx, key)
		if err == nil {
			object = &wrappedObject{Object: inner, key: key, hook: w.hook}
		}
		return err
	})
	return object, err
}

func (w *wrapped) Stat(ctx context.Context, key string) (info Info, err error) {
	err = w.hook(&Op{Name: "stat", Key: key}, func() (err error) {
		info, err = w.inner.Stat(ctx, key)
		return err
	})
	return info, err
}

func (w *wrapped) List(ctx context.Context, prefix, startAfter string, fn func(Info) error) error {
	return w.hook(&Op{Name: "list", Key: prefix}, func() error { return w.inner.List(ctx, prefix, startAfter, fn) })
}

func (w *wrapped) PutIfAbsent(ctx context.Context, key string, body []byte) (Outcome, error) {
	op := &Op{Name: "put", Key: key, Body: body}
	err := w.hook(op, func() (err error) {
		op.Outcome, err = w.inner.PutIfAbsent(ctx, key, op.Body)
		return err
	})
	if err != nil {
		return Unknown, err
	}
	return op.Outcome, nil
}

func (w *wrapped) Delete(ctx context.Context, key string) error {
	return w.hook(&Op{Name: "delete", Key: key}, func() error { return w.inner.Delete(ctx, key) })
}

func (w *wrapped) DeleteAll(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	op := &Op{Name: "delete all", Key: keys[0], Keys: keys}
	return w.hook(op, func() error { return w.inner.DeleteAll(ctx, op.Keys) })
}

func (w *wrapped) Stage(ctx context.Context, key string) (staged Staged, err error) {
	err = w.hook(&Op{Name: "stage", Key: key}, func() error {
		inner, err := w.inner.Stage(ctx, key)
		if err == nil {
			staged = &wrappedStaged{inner: inner, key: key, hook: w.hook}
		}
		return err
	})
	return staged, err
}

func (w *wrapped) Sweep(ctx context.Context, keep func(string) (bool, error)) (n int, err error) {
	err = w.hook(&Op{Name: "sweep"}, func() (err error) {
		n, err = w.inner.Sweep(ctx, keep)
		return err
	})
	return n, err
}

func (w *wrapped) Unsettled(ctx context.Context, fn func(string) error) (age time.Duration, err error) {
	err = w.hook(&Op{Name: "unsettled"}, func() (err error) {
		age, err = w.inner.Unsettled(ctx, fn)
		return err
	})
	return age, err
}

type wrappedObject struct {
	Object
	key  string
	hook Hook
}

func (o *wrappedObject) ReadAt(p []byte, off int64) (n int, err error) {
	err = o.hook(&Op{Name: "read", Key: o.key}, func() (err error) {
		n, err = o.Object.ReadAt(p, off)
		return err
	})
	return n, err
}

type wrappedStaged struct {
	inner Staged
	key   string
	hook  Hook
}

func (s *wrappedStaged) Write(p []byte) (int, error) {
	op := &Op{Name: "write", Key: s.key, Body: p}
	err := s.hook(op, func() error {
		_, err := s.inner.Write(op.Body)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *wrappedStaged) Publish(ctx context.Context) error {
	return s.hook(&Op{Name: "publish", Key: s.key}, func() error { return s.inner.Publish(ctx) })
}

func (s *wrappedStaged) Settle(ctx context.Context) error {
	return s.hook(&Op{Name: "settle", Key: s.key}, func() error { return s.inner.Settle(ctx) })
}

func (s *wrappedStaged) Abort(ctx context.Context) error {
	return s.hook(&Op{Name: "abort", Key: s.key}, func() error { return s.inner.Abort(ctx) })
}
