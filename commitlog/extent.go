package commitlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/storage"
)

// extent is which versions a listing of the log showed.
type extent struct {
	first, last int64 // of the commits; last < first when there is none
	hole        int64 // the first version missing between them; -1 when none is
	checkpoint  int64 // version of the newest whole log checkpoint; -1 when there is none
}

// list finds out the log's extent.
func (l *Log) list(ctx context.Context) (extent, error) {
	e := extent{first: 0, last: -1, hole: -1, checkpoint: -1}
	parts := map[[2]int64]int64{} // of a checkpoint, by version and number of parts
	err := l.store.List(ctx, logDir, "", func(info storage.Info) error {
		f, ok := parseKey(info.Key)
		switch {
		case !ok:
		case f.commit:
			e.commit(f.version)
		case info.Size > 0:
			k := [2]int64{f.version, f.parts}
			parts[k]++
			if parts[k] >= f.parts {
				e.checkpoint = max(e.checkpoint, f.version)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return extent{}, err
	}
	return e, nil
}

// commit takes the next commit of the listing, which is in order.
func (e *extent) commit(version int64) {
	switch {
	case e.last < e.first:
		e.first = version
	case version != e.last+1 && e.hole < 0:
		e.hole = e.last + 1
	}
	e.last = version
}

// complete refuses a log whose commits alone do not give the table's state.
func (e *extent) complete(table string) error {
	empty := e.last < e.first
	switch {
	case empty && e.checkpoint < 0:
		return fmt.Errorf("table %s: %w", table, ErrNoTable)
	case empty:
		return needsCheckpoint(table, fmt.Sprintf("there is one at version %d, and no commit", e.checkpoint))
	case e.first > 0 && e.checkpoint < 0:
		return &CorruptError{Table: table, Version: 0, Reason: fmt.Sprintf("it is missing, and the first commit there is of version %d", e.first)}
	case e.first > 0:
		return needsCheckpoint(table, fmt.Sprintf("the commits before version %d have been cleaned up", e.first))
	case e.hole >= 0 && e.checkpoint >= e.hole:
		return needsCheckpoint(table, fmt.Sprintf("the commit of version %d has been cleaned up", e.hole))
	case e.hole >= 0:
		return &CorruptError{Table: table, Version: e.hole, Reason: fmt.Sprintf("it is missing, though version %d is there", e.last)}
	case e.checkpoint > e.last:
		return needsCheckpoint(table, fmt.Sprintf("there is one at version %d, but the commits end at version %d", e.checkpoint, e.last))
	}
	return nil
}

func needsCheckpoint(table, detail string) error {
	return &UnsupportedError{Table: table, Features: []string{featureLogCheckpoints}, For: gateReading, Detail: detail}
}
