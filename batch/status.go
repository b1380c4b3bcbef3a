package batch

import (
	"context"
	"maps"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Status is where a pipeline stands.
type Status struct {
	Pipeline string `json:"pipeline"`
	// Planned is P, Committed T; -1 when there is none.
	Planned   int64 `json:"planned_batch"`
	Committed int64 `json:"committed_batch"`
	// Version is the table's newest version, CommittedVersion that of batch T's commit; -1 when there is none.
	Version          int64            `json:"table_version"`
	CommittedVersion int64            `json:"committed_version"`
	Positions        []source.Lag     `json:"positions"`
	Rows             int64            `json:"rows"`
	Bad              int64            `json:"bad_records"`
	Unknown          map[string]int64 `json:"unknown_fields"`
	LastError        *LastError       `json:"last_error"`
	Refused          string           `json:"refused,omitempty"` // why a run would be refused
	Notices          []string         `json:"notices"`
}

// ReadStatus compares the two logs as a start would, and asks the source for its ends. It changes nothing.
func (e *Engine) ReadStatus(ctx context.Context, records Records) (*Status, error) {
	s := &Status{Pipeline: e.Name, Planned: -1, Committed: -1, Version: -1, CommittedVersion: -1, Positions: []source.Lag{}, Unknown: map[string]int64{}, Notices: []string{}}
	table, err := e.Table.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	log, err := offsetlog.Open(ctx, e.Checkpoint, e.Name)
	if err != nil {
		return nil, err
	}
	e.log = log
	s.Notices = append(s.Notices, log.Notices()...)
	if newest := log.Newest(); newest != nil {
		s.Planned = newest.Batch
	}
	if table != nil {
		s.Version, s.Committed = table.Version, table.Batch
		s.Notices = append(s.Notices, table.Notices...)
		if table.Batch >= 0 {
			s.CommittedVersion = table.BatchVersion
		}
	}
	if _, err := recoverFrom(e.Name, log.Plans(), table); err != nil {
		s.Refused = err.Error()
	}
	if table != nil {
		err := records(ctx, func(r *Record) error {
			s.Rows += r.Rows
			s.Bad += r.Bad
			for path, n := range maps.All(r.Unknown) {
				s.Unknown[path] += n
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if s.LastError, err = ReadLastError(ctx, e.Checkpoint); err != nil {
		return nil, err
	}
	return s, e.readLag(ctx, s)
}

func (e *Engine) readLag(ctx context.Context, s *Status) error {
	if err := e.restoreSource(ctx); err != nil {
		return err
	}
	planned, err := e.Source.Next(ctx, e.Settings.Limits)
	if err != nil {
		s.Notices = append(s.Notices, err.Error())
		return nil
	}
	s.Notices = append(s.Notices, planned.Notices...)
	lag, err := e.Source.Lag(ctx)
	if err != nil {
		return err
	}
	s.Positions = append(s.Positions, lag...)
	return nil
}
