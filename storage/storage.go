// Package storage names objects and makes them durable.
//
// It owns the one boundary between Sluice and whatever keeps its bytes. A Store is a flat set of named objects under
// one root (a folder, a bucket prefix); offset logs, tables and landing folders each get a Store of their own. Backends
// (storage/local, storage/s3) are held to one conformance suite, storagetest.Conformance; faults, crashes and
// transcripts are wrappers made with Wrap,
// retries one of package storage/retry.
//
// Invariants, for every backend:
//
//   - An object is whole or absent. No reader ever sees a part of one.
//   - PutIfAbsent never replaces. Of any number of racing calls for a key at most one gets Stored.
//   - What is staged cannot be read or listed under its key before Publish.
//   - When a call that writes has returned nil, what it wrote survives power loss.
package storage

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// ErrNotExist is what Get, Open and Stat wrap for a key that has no object. It is fs.ErrNotExist.
var ErrNotExist = fs.ErrNotExist

// ErrExist is what Publish wraps when its key has an object of another's. It is fs.ErrExist.
var ErrExist = fs.ErrExist

// Info describes an object without its bytes.
type Info struct {
	Key      string    // relative to the store's root, with forward slashes
	Size     int64     // bytes
	Modified time.Time // as the backend tells it; nanoseconds on a local disk, seconds on S3
	ETag     string    // changes with the content, where the backend has such a thing; empty on a local disk
}

// Outcome is the answer to a PutIfAbsent.
type Outcome int

const (
	// Unknown: the object may have been stored, now or later. The caller reads the key back and recognises its own
	// bytes; it never assumes. Always comes with an error.
	Unknown Outcome = iota
	// Stored: the object is durable and ours.
	Stored
	// Exists: the key had an object already, and it was not touched. It may be our own of an earlier, unknown attempt.
	Exists
)

func (o Outcome) String() string {
	switch o {
	case Stored:
		return "stored"
	case Exists:
		return "exists"
	default:
		return "unknown"
	}
}

// Store is a set of named objects. All methods are safe for concurrent use. Errors carry operation and key (Error).
type Store interface {
	Reader

	// URL names the root for people and for messages.
	URL() string

	// Get returns a whole object.
	Get(ctx context.Context, key string) ([]byte, error)

	// List calls fn for every object whose key begins with prefix and is greater than startAfter, in byte order of the
	// keys. Staged objects are not listed. An error of fn ends the listing and is returned as it is. Objects that come or
	// go during the listing may or may not be seen.
	List(ctx context.Context, prefix, startAfter string, fn func(Info) error) error

	// PutIfAbsent stores body under key if the key has no object. err is nil for Stored and Exists.
	PutIfAbsent(ctx context.Context, key string, body []byte) (Outcome, error)

	// Delete removes an object; an absent one is no error.
	Delete(ctx context.Context, key string) error

	// DeleteAll removes objects in as few requests as the backend can; absent ones are no error. After an error some of them
	// may be gone.
	DeleteAll(ctx context.Context, keys []string) error

	// Stage begins an object that nobody can see until it is published. Keys are to be fresh (a UUID in the name), or such that
	// whoever is first is as good as any other.
	Stage(ctx context.Context, key string) (Staged, error)

	// Sweep removes what dead attempts left: staged objects, and published ones that were never settled unless keep says
	// that their key is in use. It never touches what a living attempt, in this or another process, has staged. A backend
	// that cannot tell the dead from the silent goes by age, and may leave published ones to a vacuum. It returns the
	// number of objects removed.
	Sweep(ctx context.Context, keep func(key string) (bool, error)) (int, error)

	// Unsettled calls fn for the key of each object that an attempt of any process has staged and not settled, published or
	// not; an error of fn ends it and is returned as it is. A backend that does not know them returns the age from which on no
	// published object is still to be settled; others return 0.
	Unsettled(ctx context.Context, fn func(key string) error) (time.Duration, error)

	// Close gives up this process's attempt without cleaning up after it, as a crash would. Whoever wants what is staged
	// to go calls Abort first.
	Close() error
}

// Object is an open object. Not safe for concurrent use, except ReadAt.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Staged is an object being written out of sight. Not safe for concurrent use. Its life is Write*, Publish, Settle; or
// Abort at any point before Settle.
type Staged interface {
	io.Writer
	// Publish makes the object durable and visible under its key. It never replaces: where there is one already that is not this
	// one, the error wraps ErrExist, and Abort leaves that one alone.
	Publish(ctx context.Context) error
	// Settle says that something durable refers to the published object, so that no sweep may remove it.
	Settle(ctx context.Context) error
	// Abort removes the object, published or not.
	Abort(ctx context.Context) error
}

// Error is the error of every backend: which operation, on which key of which store.
type Error struct {
	Op  string // "get", "put", "stage", …
	Key string // empty for what is about the whole store
	Err error
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.Key, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
