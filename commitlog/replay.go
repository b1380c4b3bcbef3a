package commitlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/storage"
)

// replayAttempts is how often a replay starts over when a commit that was listed is gone by the time it is read, as when
// another engine cleans up at that moment.
const replayAttempts = 3

// State is a table at a version, with all its files.
type State struct {
	Version  int64
	Protocol Protocol
	Metadata Metadata
	Adds     []Add // the live files, in the order in which they were committed
	Apps     map[string]App
	Domains  map[string]DomainMetadata // those not removed

	table string // URL
}

// replayHead lists and replays the log as far as a head needs.
func (l *Log) replayHead(ctx context.Context) (*Head, error) {
	var h *Head
	err := l.replaying(ctx, func(e extent) error {
		h = l.newHead()
		count := newCensus()
		return l.fetch(ctx, 0, e.last, countable, func(c *Commit, sum uint64) error {
			if err := checkFirst(l.store.URL(), c); err != nil {
				return err
			}
			h.apply(c, count)
			h.sum = sum
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if err := h.gate(); err != nil {
		return nil, err
	}
	return h, nil
}

func (l *Log) newHead() *Head {
	return &Head{Version: -1, Apps: map[string]App{}, table: l.store.URL()}
}

// replaying runs a replay over the log's extent, again if the log is cleaned up meanwhile.
func (l *Log) replaying(ctx context.Context, run func(extent) error) error {
	var err error
	for range replayAttempts {
		var e extent
		if e, err = l.list(ctx); err != nil {
			return err
		}
		if err = e.complete(l.store.URL()); err != nil {
			return err
		}
		if err = run(e); !errors.Is(err, storage.ErrNotExist) {
			return err
		}
	}
	return err
}

// checkFirst refuses a version 0 without what every table has to begin with.
func checkFirst(table string, c *Commit) error {
	switch {
	case c.Version > 0:
		return nil
	case c.Protocol == nil:
		return &CorruptError{Table: table, Version: 0, Reason: "it has no protocol action"}
	case c.Metadata == nil:
		return &CorruptError{Table: table, Version: 0, Reason: "it has no metaData action"}
	}
	return nil
}

// Files replays the log up to a version, the newest when version is negative. Its cost grows with the log; it neither
// uses nor moves the head. Errors are those of Load, and ErrNoVersion (wrapped). Whoever reads rows asks Readable first.
func (l *Log) Files(ctx context.Context, version int64) (*State, error) {
	var (
		h    *Head
		live *liveFiles
	)
	err := l.replaying(ctx, func(e extent) error {
		to := e.last
		if version >= 0 {
			to = version
		}
		if to > e.last {
			return fmt.Errorf("table %s, version %d: %w; the newest is %d", l.store.URL(), to, ErrNoVersion, e.last)
		}
		h, live = l.newHead(), newLiveFiles()
		return l.fetch(ctx, 0, to, full, func(c *Commit, _ uint64) error {
			if err := checkFirst(l.store.URL(), c); err != nil {
				return err
			}
			h.apply(c, live)
			live.applyDomains(c)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if err := h.gate(); err != nil {
		return nil, err
	}
	return &State{
		Version: h.Version, Protocol: h.Protocol, Metadata: h.Metadata,
		Adds: live.list(), Apps: h.Apps, Domains: live.domains, table: h.table,
	}, nil
}

// Readable tells whether the files' rows are the table's rows: nil, or an *UnsupportedError when rows of a file have been
// deleted by a deletion vector and would come back to life. Who asks only which files there are need not care.
func (s *State) Readable() error {
	for i := range s.Adds {
		if s.Adds[i].DeletionVector != nil {
			return &UnsupportedError{
				Table: s.table, Features: []string{featureDeletionVectors}, For: gateReading,
				Detail: "rows of " + s.Adds[i].Path + " have been deleted by one",
			}
		}
	}
	return nil
}

// Commits hands the commits of the versions [from, to] to fn in ascending order; a negative to means the newest. It begins
// with the first commit that is still there if that is later than from, and passes no judgement on the protocol. An error
// of fn ends it and is returned as it is; else they are ErrNoTable (wrapped), *CorruptError, or the storage's.
func (l *Log) Commits(ctx context.Context, from, to int64, fn func(*Commit) error) error {
	e, err := l.list(ctx)
	switch {
	case err != nil:
		return err
	case e.last < e.first:
		return fmt.Errorf("table %s: %w", l.store.URL(), ErrNoTable)
	}
	from = max(from, e.first)
	if to < 0 || to > e.last {
		to = e.last
	}
	if e.hole >= from && e.hole <= to {
		return l.corrupt(e.hole, "it is missing, though version %d is there", e.last)
	}
	return l.fetch(ctx, from, to, full, func(c *Commit, _ uint64) error { return fn(c) })
}

// liveFiles keeps the live files in the order of their last add.
type liveFiles struct {
	adds    []Add // with gaps, marked by an empty path
	at      map[FileKey]int
	domains map[string]DomainMetadata
}

func newLiveFiles() *liveFiles {
	return &liveFiles{at: make(map[FileKey]int), domains: make(map[string]DomainMetadata)}
}

func (f *liveFiles) add(_ *Head, a *Add) {
	k := a.Key()
	f.drop(k)
	if len(f.adds) > 2*len(f.at)+1024 {
		f.close()
	}
	f.at[k] = len(f.adds)
	f.adds = append(f.adds, *a)
}

func (f *liveFiles) remove(_ *Head, r *Remove) { f.drop(r.Key()) }

func (f *liveFiles) drop(k FileKey) {
	if i, live := f.at[k]; live {
		f.adds[i] = Add{}
		delete(f.at, k)
	}
}

func (f *liveFiles) applyDomains(c *Commit) {
	for _, d := range c.Domains {
		if d.Removed {
			delete(f.domains, d.Domain)
		} else {
			f.domains[d.Domain] = d
		}
	}
}

// close closes the gaps.
func (f *liveFiles) close() {
	list := f.adds[:0]
	for i := range f.adds {
		if f.adds[i].Path != "" {
			f.at[f.adds[i].Key()] = len(list)
			list = append(list, f.adds[i])
		}
	}
	clear(f.adds[len(list):])
	f.adds = list
}

// list returns the files.
func (f *liveFiles) list() []Add {
	f.close()
	return f.adds
}
