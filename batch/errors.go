package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// LastError is the error that a run ended with, as the checkpoint keeps it for status.
type LastError struct {
	Time  time.Time `json:"time"`
	Error string    `json:"error"`
	// Past says that batches were committed since. It is not stored.
	Past bool `json:"past"`
}

const (
	errorFolder = "errors/"
	keepErrors  = 10
)

// recordError stores the error of a run in the checkpoint and forgets old ones. Being fenced is no error of the
// pipeline's: another process runs it.
func recordError(ctx context.Context, checkpoint storage.Store, now time.Time, cause error) error {
	if errors.Is(cause, ErrFenced) {
		return nil
	}
	body, err := json.Marshal(LastError{Time: now.UTC().Truncate(time.Microsecond), Error: cause.Error()})
	if err != nil {
		return fmt.Errorf("record the error for status: %w", err)
	}
	if _, err := checkpoint.PutIfAbsent(ctx, fmt.Sprintf("%s%020d.json", errorFolder, now.UnixMicro()), body); err != nil {
		return fmt.Errorf("record the error for status: %w", err)
	}
	kept, err := errorKeys(ctx, checkpoint)
	for ; err == nil && len(kept) > keepErrors; kept = kept[1:] {
		err = checkpoint.Delete(ctx, kept[0])
	}
	if err != nil {
		return fmt.Errorf("forget old errors: %w", err)
	}
	return nil
}

func errorKeys(ctx context.Context, checkpoint storage.Store) (keys []string, err error) {
	err = checkpoint.List(ctx, errorFolder, "", func(info storage.Info) error {
		if strings.HasSuffix(info.Key, ".json") {
			keys = append(keys, info.Key)
		}
		return nil
	})
	return keys, err
}

// ReadLastError returns the newest error that a run ended with, or nil.
func ReadLastError(ctx context.Context, checkpoint storage.Store) (*LastError, error) {
	keys, err := errorKeys(ctx, checkpoint)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	body, err := checkpoint.Get(ctx, keys[len(keys)-1])
	if err != nil {
		return nil, err
	}
	var last LastError
	if err := json.Unmarshal(body, &last); err != nil {
		return nil, fmt.Errorf("read %s: %w", keys[len(keys)-1], err)
	}
	return &last, nil
}
