package commitlog

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sluicedata/sluice/storage"
)

// lastCheckpoint is the content of _last_checkpoint ("Last Checkpoint File Schema"). version and size come first: there are readers
// that ask for both.
type lastCheckpoint struct {
	Version       int64 `json:"version"`
	Size          int64 `json:"size"` // actions
	SizeInBytes   int64 `json:"sizeInBytes"`
	NumOfAddFiles int64 `json:"numOfAddFiles"`
}

// hint is what _last_checkpoint says, all 0 when there is nothing to be had from it. It may name an older or newer log
// checkpoint than what is there, or be wrong: it only tells where a listing may begin, and about how much there is.
func (l *Log) hint(ctx context.Context) (lastCheckpoint, error) {
	body, err := l.store.Get(ctx, hintKey)
	if errors.Is(err, storage.ErrNotExist) {
		return lastCheckpoint{}, nil
	}
	if err != nil {
		return lastCheckpoint{}, err
	}
	var last lastCheckpoint
	err = json.Unmarshal(body, &last)
	if err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) || last.Version < 0 {
		return lastCheckpoint{}, nil
	}
	last.Size, last.SizeInBytes = believable(last.Size), believable(last.SizeInBytes)
	return last, nil
}

// believable is a size that may be anything, within what can be reckoned with.
func believable(n int64) int64 { return min(max(n, 0), 1<<48) }
