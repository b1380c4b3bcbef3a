package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// entries are numbered documents in a folder of the checkpoint, of which the newest counts and a few are kept. Their numbers are
// microseconds since the epoch, or one more than the newest where the clock is behind it.
type entries struct {
	store  storage.Store
	folder string // with its slash
}

const keepEntries = 10

// keys are those of all entries, oldest first.
func (s entries) keys(ctx context.Context) (keys []string, err error) {
	err = s.store.List(ctx, s.folder, "", func(info storage.Info) error {
		if s.number(info.Key) > 0 {
			keys = append(keys, info.Key)
		}
		return nil
	})
	return keys, err
}

// put stores an entry behind those of keys, whatever the clock says, and forgets old ones.
func (s entries) put(ctx context.Context, keys []string, now time.Time, entry any) error {
	number := now.UnixMicro()
	if len(keys) > 0 {
		number = max(number, s.number(keys[len(keys)-1])+1)
	}
	body, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err := storage.Put(ctx, s.store, fmt.Sprintf("%s%020d.json", s.folder, number), body); err != nil {
		return err
	}
	for ; len(keys) >= keepEntries; keys = keys[1:] {
		if err := s.store.Delete(ctx, keys[0]); err != nil {
			return fmt.Errorf("forget old ones: %w", err)
		}
	}
	return nil
}

// number is that of an entry, which its key has in place of a name; 0 for a key that was not made here.
func (s entries) number(key string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(key, s.folder), ".json"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
