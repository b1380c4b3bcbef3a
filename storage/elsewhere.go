package storage

import (
	"context"
	"errors"
)

// Reader reads objects and changes none.
type Reader interface {
	// Open returns an object for ranged reads.
	Open(ctx context.Context, key string) (Object, error)
	// Stat describes one object.
	Stat(ctx context.Context, key string) (Info, error)
}

// Elsewhere reads what lies below another root than the store's, of the same backend, and as the store does: with its settings and
// with the wrappers around it. root is the URL of the store there. It does no I/O.
func Elsewhere(s Store, root string) (Reader, error) { return OpenElsewhere(s, root) }

// OpenElsewhere is Elsewhere for the wrappers themselves.
func OpenElsewhere(s Store, root string) (Store, error) {
	if s, ok := s.(interface {
		Elsewhere(root string) (Store, error)
	}); ok {
		return s.Elsewhere(root)
	}
	return nil, &Error{Op: "open", Key: root, Err: errors.New("this store reaches nothing but what is below " + s.URL())}
}
