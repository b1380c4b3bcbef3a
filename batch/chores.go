package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// Chore is what is known of a work of maintenance on a table.
type Chore struct {
	Work   string       `json:"work"`
	Table  string       `json:"table"`
	Done   *ChoreDone   `json:"done,omitempty"`   // the last time that it was done
	Failed *ChoreFailed `json:"failed,omitempty"` // the newest try, if that failed
}

// ChoreDone is a piece of maintenance that was done. Its numbers are those of Maintained.
type ChoreDone struct {
	Time    time.Time `json:"time"`
	Version int64     `json:"version"`
	Files   int64     `json:"files"`
	Bytes   int64     `json:"bytes"`
	Seconds float64   `json:"seconds"`
}

// ChoreFailed is a try that failed.
type ChoreFailed struct {
	Time  time.Time `json:"time"`
	Error string    `json:"error"`
	Verdict
}

const choreFolder = "maintenance/"

// chores are what the checkpoint remembers of maintenance, for status and for what is due by time: entries that each have all
// chores. Safe for concurrent use by one process; another one may write entries as well.
type chores struct {
	entries
	judge func(error) Verdict
	now   func() time.Time

	mu   sync.Mutex
	read bool
	all  []Chore // once read
}

// of returns what is known of a work on a table.
func (c *chores) of(ctx context.Context, work, table string) (Chore, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.read {
		_, all, err := c.newest(ctx)
		if err != nil {
			return Chore{}, fmt.Errorf("find out when it was done last: %w", err)
		}
		c.all, c.read = all, true
	}
	for _, known := range c.all {
		if known.Work == work && known.Table == table {
			return known, nil
		}
	}
	return Chore{Work: work, Table: table}, nil
}

// take remembers a piece of maintenance.
func (c *chores) take(ctx context.Context, m *Maintained) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys, all, err := c.newest(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(known Chore) bool { return known.Work == m.Work && known.Table == m.Table })
	if at < 0 {
		at, all = len(all), append(all, Chore{Work: m.Work, Table: m.Table})
	}
	now := c.now().UTC().Truncate(time.Microsecond)
	if chore := &all[at]; m.Err != nil {
		chore.Failed = &ChoreFailed{Time: now, Error: m.Err.Error(), Verdict: c.judge(m.Err)}
	} else {
		chore.Failed = nil
		chore.Done = &ChoreDone{Time: now, Version: m.Version, Files: m.Files, Bytes: m.Bytes, Seconds: m.Took.Seconds()}
	}
	c.all, c.read = all, true
	return c.put(ctx, keys, now, all)
}

// newest returns the keys of all entries, and what the newest one says that is whole.
func (c *chores) newest(ctx context.Context) (keys []string, all []Chore, err error) {
	if keys, err = c.keys(ctx); err != nil {
		return nil, nil, err
	}
	for _, key := range slices.Backward(keys) {
		body, err := c.store.Get(ctx, key)
		switch {
		case errors.Is(err, storage.ErrNotExist): // another process has forgotten it
		case err != nil:
			return nil, nil, err
		case json.Unmarshal(body, &all) == nil:
			return keys, all, nil
		default: // torn: the one before it says nothing wrong
			all = nil
		}
	}
	return keys, nil, nil
}
