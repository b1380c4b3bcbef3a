package commitlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/sluicedata/sluice/storage"
)

// listing is which commits and log checkpoints there are.
type listing struct {
	table       string       // URL
	commits     []int64      // ascending
	checkpoints []checkpoint // whole ones, ascending; several of one version can stand beside each other

	parts map[multipart][]string // keys of checkpoints in parts
}

// multipart is what the parts of a checkpoint have in common.
type multipart struct{ version, parts int64 }

// checkpoint is a log checkpoint: a table's state at a version ("Checkpoints").
type checkpoint struct {
	version int64
	keys    []string // of its parts in order; one key if it has no parts
}

// segment is what a version can be read from: a log checkpoint, and all commits after it.
type segment struct {
	checkpoint *checkpoint    // nil: there is none, and the commits begin with 0
	from, to   int64          // of the commits; from > to when there are none
	own        bool           // the commit of the checkpoint's own version is there too
	said       lastCheckpoint // what _last_checkpoint says of the log checkpoint, if it is of that
}

// list finds out what there is from a version on, which is to be 0 or that of a checkpoint. A folder of a local disk that is listed while
// commits are put can show one and not the one before it, which was there earlier: where a commit is missing it is listed again.
func (l *Log) list(ctx context.Context, from int64) (*listing, error) {
	e, err := l.listOnce(ctx, from)
	if err == nil && e.torn() {
		return l.listOnce(ctx, from)
	}
	return e, err
}

// torn says that a commit is missing between others, or between the newest log checkpoint and those.
func (e *listing) torn() bool {
	if len(e.commits) == 0 {
		return false
	}
	first, last := e.commits[0], e.commits[len(e.commits)-1]
	if n := len(e.checkpoints); n > 0 {
		first = min(first, e.checkpoints[n-1].version+1)
	}
	return e.missing(first, last) >= 0
}

func (l *Log) listOnce(ctx context.Context, from int64) (*listing, error) {
	e := &listing{table: l.store.URL()}
	err := l.store.List(ctx, logDir, listAfter(from), func(info storage.Info) error {
		e.take(info)
		return nil
	})
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return nil, err
	}
	return e, nil
}

// take takes in a file of the log. They come in the order of their keys.
func (e *listing) take(info storage.Info) {
	f, ok := parseKey(info.Key)
	switch {
	case !ok:
	case f.commit:
		e.commits = append(e.commits, f.version)
	case info.Size == 0: // left by a writer that died
	case f.parts == 1:
		e.checkpoints = append(e.checkpoints, checkpoint{f.version, []string{info.Key}})
	default:
		if e.parts == nil {
			e.parts = map[multipart][]string{}
		}
		id := multipart{f.version, f.parts}
		if e.parts[id] = append(e.parts[id], info.Key); int64(len(e.parts[id])) == f.parts {
			e.checkpoints = append(e.checkpoints, checkpoint{f.version, e.parts[id]})
		}
	}
}

// newest is the table's newest version, -1 when there is no table.
func (e *listing) newest() int64 {
	newest := int64(-1)
	if n := len(e.commits); n > 0 {
		newest = e.commits[n-1]
	}
	if n := len(e.checkpoints); n > 0 {
		newest = max(newest, e.checkpoints[n-1].version)
	}
	return newest
}

// newer is the error for a version above the newest.
func (e *listing) newer(version int64) error {
	return fmt.Errorf("table %s, version %d: %w; the newest is %d", e.table, version, ErrNoVersion, e.newest())
}

// segments returns from what a version can be read, the best first: from the newest checkpoint on, from older ones on in
// case it is damaged, from the first commit on. The newest version is meant when version is negative.
func (e *listing) segments(version int64) ([]segment, error) {
	newest := e.newest()
	to := version
	if version < 0 {
		to = newest
	}
	switch {
	case newest < 0:
		return nil, fmt.Errorf("table %s: %w", e.table, ErrNoTable)
	case to > newest:
		return nil, e.newer(to)
	}
	var list []segment
	hole := int64(-1)
	for i, c := range slices.Backward(e.checkpoints) {
		if c.version > to {
			continue
		}
		if missing := e.missing(c.version+1, to); missing < 0 {
			list = append(list, segment{&e.checkpoints[i], c.version + 1, to, e.missing(c.version, c.version) < 0, lastCheckpoint{}})
		} else if hole < 0 {
			hole = missing
		}
	}
	missing := e.missing(0, to)
	switch {
	case missing < 0:
		return append(list, segment{from: 0, to: to}), nil
	case len(list) > 0:
		return list, nil
	case hole < 0:
		return nil, e.unreachable(to, missing)
	}
	return nil, e.hole(hole, to)
}

// missing is the first of the versions [from, to] whose commit is not there, -1 when all are.
func (e *listing) missing(from, to int64) int64 {
	i := sort.Search(len(e.commits), func(i int) bool { return e.commits[i] >= from })
	n := to - from + 1
	if n <= 0 || int64(len(e.commits)-i) >= n && e.commits[i+int(n)-1] == to {
		return -1
	}
	for ; i < len(e.commits) && e.commits[i] == from; i++ {
		from++
	}
	return from
}

// unreachable is the error of a version that no checkpoint comes before, when the commits do not begin with 0.
func (e *listing) unreachable(to, missing int64) error {
	switch {
	case len(e.checkpoints) > 0:
		return fmt.Errorf("table %s, version %d: %w: its commits have been cleaned up; the oldest that can be read is %d",
			e.table, to, ErrNoVersion, e.checkpoints[0].version)
	case missing == 0:
		return &CorruptError{Table: e.table, Version: 0, Reason: fmt.Sprintf("it is missing, and the first commit there is of version %d", e.commits[0])}
	}
	return e.hole(missing, to)
}

func (e *listing) hole(version, to int64) error {
	return &CorruptError{Table: e.table, Version: version, Reason: fmt.Sprintf("it is missing, though version %d is there", to)}
}
