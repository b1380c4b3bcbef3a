package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
)

// probeFolder lies directly under the prefix; readers of Delta tables ignore names that begin with "_".
const probeFolder = "_probe/"

// ConditionalPuts finds out whether the store honours If-None-Match, by putting one scratch object twice, and deletes
// that. A *NotConditionalError says that it does not: two writers would overwrite each other's commits there.
func (s *Store) ConditionalPuts(ctx context.Context) error {
	key := probeFolder + uuid.NewString()
	store := s.client.retrier.Wrap(s)
	err := s.probe(ctx, store, key)
	if err == nil {
		err = store.Delete(ctx, key)
	} else {
		_ = s.Delete(ctx, key) // it may be there, and what is wrong has been found already
	}
	if err != nil {
		return fmt.Errorf("find out whether %s has conditional puts: %w", s.url, err)
	}
	return nil
}

// probeTries bounds the puts whose outcome stays unknown: as many as the retrier makes of anything else, so that a service
// that asks to slow down is waited for.
const probeTries = 10

func (s *Store) probe(ctx context.Context, store storage.Store, key string) error {
	var unknown error
	for range probeTries {
		first, err := store.PutIfAbsent(ctx, key, []byte("first"))
		if first == storage.Unknown {
			if answersNot(err) {
				return &NotConditionalError{URL: s.url, Endpoint: s.endpoint(), Reason: err.Error()}
			}
			if unknown = err; s.client.classify(err) == retry.Final {
				return err
			}
			if _, err := store.Get(ctx, key); errors.Is(err, storage.ErrNotExist) {
				continue
			} else if err != nil {
				return errors.Join(unknown, err)
			}
		}
		second, err := store.PutIfAbsent(ctx, key, []byte("second"))
		switch second {
		case storage.Exists:
			return nil
		case storage.Stored:
			return &NotConditionalError{URL: s.url, Endpoint: s.endpoint(), Reason: "it has replaced an object that was to be left alone"}
		}
		unknown = err
		switch {
		case answersNot(err):
			return &NotConditionalError{URL: s.url, Endpoint: s.endpoint(), Reason: err.Error()}
		case s.client.classify(err) == retry.Final:
			return err
		}
	}
	return unknown
}

// answersNot says whether a store has refused the condition itself.
func answersNot(err error) bool { return codeOf(err) == "NotImplemented" }

func (s *Store) endpoint() string {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if s.client.api == nil || s.client.api.Options().BaseEndpoint == nil {
		return "Amazon S3"
	}
	return *s.client.api.Options().BaseEndpoint
}

// NotConditionalError is a store without put-if-absent.
type NotConditionalError struct {
	URL      string // of the store
	Endpoint string
	Reason   string
}

func (e *NotConditionalError) Error() string {
	return fmt.Sprintf("%s does not honour If-None-Match: %s; nothing would be exactly once there: use a store or a version of it that does, such as Amazon S3, MinIO, Cloudflare R2 or versitygw, or a local disk", e.Endpoint, e.Reason)
}
