package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Status is where a pipeline stands.
type Status struct {
	Pipeline string `json:"pipeline"`
	// State is "ok", or the class of what keeps the pipeline from going on: LastError, Refused or Unreachable.
	State Class `json:"state"`
	// Planned is P, Committed T; -1 when there is none.
	Planned   int64 `json:"planned_batch"`
	Committed int64 `json:"committed_batch"`
	// Version is the table's newest version, CommittedVersion that of batch T's commit; -1 when there is none.
	Version          int64            `json:"table_version"`
	CommittedVersion int64            `json:"committed_version"`
	Positions        []source.Lag     `json:"positions"`
	Rows             int64            `json:"rows"`
	Bad              int64            `json:"bad_records"`
	Tombstones       int64            `json:"tombstones"`
	Unknown          map[string]int64 `json:"unknown_fields"`
	LastError        *LastError       `json:"last_error"`
	Refused          string           `json:"refused,omitempty"`     // why a run would be refused
	Unreachable      string           `json:"unreachable,omitempty"` // why checkpoint or table could not be read whole
	Notices          []string         `json:"notices"`
	Maintenance      []Chore          `json:"maintenance"` // of the tables, beside runs
	Memory           MemoryStatus     `json:"memory"`
}

// MemoryStatus is what a run may hold, in bytes.
type MemoryStatus struct {
	Limit  int64            `json:"limit"`  // of a run's process, but for the program itself
	Budget int64            `json:"budget"` // of it, for data
	Shares map[string]int64 `json:"shares"` // of the budget, by account; write borrows what is in none
	Peak   int64            `json:"peak"`   // most that the newest batch in the table held; 0 when it does not tell
}

// OK is the State of a pipeline that nothing is known to keep from going on.
const OK Class = "ok"

// ReadStatus compares the two logs as a start would, and asks the source for its ends. It changes nothing, and the engine
// is not to be used further. Beside an error the status may hold what could be read.
func (e *Engine) ReadStatus(ctx context.Context, records Records) (*Status, error) {
	s := &Status{Pipeline: e.Name, Planned: -1, Committed: -1, Version: -1, CommittedVersion: -1, Positions: []source.Lag{}, Unknown: map[string]int64{}, Notices: []string{}, Maintenance: []Chore{}}
	_, last, err := e.journal.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("the checkpoint %s cannot be read, so that nothing is known of the pipeline's errors: %w", e.Checkpoint.URL(), err)
	}
	if s.LastError = last; last != nil {
		last.Past = last.State == Over
	}
	_, chores, err := e.chores().newest(ctx)
	if err != nil {
		return nil, fmt.Errorf("the checkpoint %s cannot be read, so that nothing is known of maintenance: %w", e.Checkpoint.URL(), err)
	}
	s.Maintenance = append(s.Maintenance, chores...)
	r, err := e.compare(ctx)
	s.Notices = append(s.Notices, r.notices...)
	var refused *RefusedError
	var corrupt *offsetlog.CorruptError
	switch {
	case errors.As(err, &refused), errors.As(err, &corrupt):
		s.Refused, err = err.Error(), nil
	case errors.Is(err, ErrFenced):
		err = nil // a run that is not to be disturbed is no fault
	}
	if err == nil {
		err = e.readTable(ctx, s, records)
	}
	if err != nil {
		s.Unreachable, s.State = err.Error(), e.Judge(err).Class
		return s, err
	}
	if e.log != nil {
		s.Notices = append(s.Notices, e.log.Notices()...)
		if newest := e.log.Newest(); newest != nil {
			s.Planned = newest.Batch
		}
		e.readPositions(ctx, s)
	}
	s.State = s.state()
	return s, nil
}

func (s *Status) state() Class {
	switch {
	case s.Refused != "":
		return NeedsYou
	case s.LastError != nil && !s.LastError.Past:
		return s.LastError.Class
	default:
		return OK
	}
}

// readTable adds what the table's log says.
func (e *Engine) readTable(ctx context.Context, s *Status, records Records) error {
	if e.table == nil {
		return nil
	}
	s.Version, s.Committed, s.CommittedVersion = e.table.Version, e.table.Batch, e.table.BatchVersion
	s.Notices = append(s.Notices, e.table.Notices...)
	if last := s.LastError; last != nil && last.Committed != unknownBatch && last.Committed < s.Committed {
		last.Past = true
	}
	var files recentFiles
	err := records(ctx, func(r *Record) error {
		if r.Compacted {
			files = recentFiles{}
		}
		files.take(r.Files, r.FileBytes)
		s.Rows += r.Rows
		s.Bad += r.Bad
		s.Tombstones += r.Tombstones
		s.Memory.Peak = r.PeakBytes
		for path, n := range r.Unknown {
			s.Unknown[path] += n
		}
		return nil
	})
	if small := files.tooSmall(e.Table.URL(), e.table.TargetFileSize); small != "" && !e.Compacted {
		s.Notices = append(s.Notices, small)
	}
	return err
}

// readPositions adds the source's positions. A source that does not answer is a notice: the rest of the status is worth
// having.
func (e *Engine) readPositions(ctx context.Context, s *Status) {
	lag, err := e.lagNow(ctx, s)
	if err != nil {
		s.Notices = append(s.Notices, err.Error())
	}
	s.Positions = append(s.Positions, lag...)
}

func (e *Engine) lagNow(ctx context.Context, s *Status) ([]source.Lag, error) {
	if err := e.restoreSource(ctx); err != nil {
		return nil, err
	}
	planned, err := e.Source.Next(ctx, e.Settings.Limits)
	if err != nil && e.Judge(err).Class == Retrying {
		return nil, err // nothing was seen, and another look would take as long again
	}
	s.Notices = append(s.Notices, planned.Notices...)
	lag, lagErr := e.Source.Lag(ctx)
	return lag, cmp.Or(err, lagErr)
}
