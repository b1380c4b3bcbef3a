package commitlog

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sluicedata/sluice/storage"
)

// hint is the version of a log checkpoint that _last_checkpoint names, 0 when there is nothing to be had from it. It may
// be older or newer than what is there, or wrong: it only tells where a listing may begin.
func (l *Log) hint(ctx context.Context) (int64, error) {
	body, err := l.store.Get(ctx, hintKey)
	if errors.Is(err, storage.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var last struct {
		Version int64 `json:"version"`
	}
	if json.Unmarshal(body, &last) != nil {
		return 0, nil
	}
	return max(last.Version, 0), nil
}
