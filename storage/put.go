package storage

import (
	"context"
	"errors"
)

// maxPuts bounds the tries of a put whose outcome is unknown and whose effect is not seen.
const maxPuts = 10

// Put stores an object if its key has none, and returns the bytes that are now there: the given ones, or those that were
// first. While the outcome is unknown and the key has no object, it puts again.
func Put(ctx context.Context, s Store, key string, body []byte) ([]byte, error) {
	var putErr error
	for range maxPuts {
		var outcome Outcome
		if outcome, putErr = s.PutIfAbsent(ctx, key, body); outcome == Stored {
			return body, nil
		}
		there, err := s.Get(ctx, key)
		switch {
		case err == nil:
			return there, nil
		case !errors.Is(err, ErrNotExist):
			return nil, errors.Join(putErr, err)
		case putErr != nil && Stops(ctx):
			return nil, putErr
		}
	}
	return nil, putErr
}
