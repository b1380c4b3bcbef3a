package commitlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/schema"
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
	Files    *Files
	Apps     map[string]App
	Domains  map[string]DomainMetadata // those not removed

	removed *Files // tombstones, of which modified is the deletionTimestamp; nil when they are not asked for
	after   int64  // ms since the epoch; older ones are not kept
	schema  *schema.Type

	clustering clustering
}

// Schema is the table's schema, a struct, with column mapping. It is shared: not to be changed.
func (s *State) Schema() *schema.Type { return s.schema }

func (l *Log) newState() *State {
	return &State{Version: -1, Files: newFiles(l.store), Apps: map[string]App{}, Domains: map[string]DomainMetadata{}}
}

func applyDomains(known map[string]DomainMetadata, domains []DomainMetadata) {
	for _, d := range domains {
		if d.Removed {
			delete(known, d.Domain)
		} else {
			known[d.Domain] = d
		}
	}
}

// replayHead lists and replays the log as far as a head needs.
func (l *Log) replayHead(ctx context.Context) (*Head, error) {
	var h *Head
	err := l.replaying(ctx, -1, func(s segment) (err error) {
		if h, err = l.begin(ctx, s, l.newState(), false); err != nil {
			return err
		}
		from := s.from
		if s.own && s.from > s.to {
			from = s.to // for its times: a checkpoint has none
		}
		return l.fetch(ctx, from, s.to, summary, func(p *parser) error {
			if err := checkFirst(l.store.URL(), p.commit); err != nil {
				return err
			}
			h.apply(p.commit)
			h.wrote(l.fileOf(p.b))
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
	return &Head{Version: -1, checkpoint: -1, Apps: map[string]App{}, Domains: map[string]DomainMetadata{}, table: l.store.URL()}
}

// begin reads a segment's log checkpoint into a new state, if it has one.
func (l *Log) begin(ctx context.Context, s segment, state *State, files bool) (*Head, error) {
	h := l.newHead()
	if s.checkpoint == nil {
		return h, nil
	}
	r := checkpointReader{log: l, state: state, files: files}
	if err := r.read(ctx, s.checkpoint); err != nil {
		return nil, err
	}
	h.Version, h.Protocol, h.Metadata, h.Apps, h.Domains = state.Version, state.Protocol, state.Metadata, state.Apps, state.Domains
	h.checkpoint, h.protocolAt, h.metadataAt = state.Version, state.Version, state.Version
	h.tail.last = s.said
	h.tail.last.Version = state.Version
	return h, nil
}

// replaying runs a replay over what a version can be read from, the newest when it is negative: again from elsewhere if a
// log checkpoint is damaged, and all over again if the log is cleaned up meanwhile.
func (l *Log) replaying(ctx context.Context, version int64, run func(segment) error) error {
	var err error
	for range replayAttempts {
		if err = l.replayOnce(ctx, version, run); !errors.Is(err, storage.ErrNotExist) {
			return err
		}
	}
	return err
}

func (l *Log) replayOnce(ctx context.Context, version int64, run func(segment) error) error {
	hint, err := l.hint(ctx)
	if err != nil {
		return err
	}
	if hint.Version > 0 && (version < 0 || version >= hint.Version) {
		e, err := l.list(ctx, hint.Version)
		if err != nil {
			return err
		}
		if segments, err := e.segments(version); err == nil {
			for i := range segments {
				if c := segments[i].checkpoint; c != nil && c.version == hint.Version {
					segments[i].said = hint
				}
			}
			if err := tryEach(segments, run); !errors.As(err, new(*damagedError)) {
				return err
			}
		}
	}
	e, err := l.list(ctx, 0)
	if err != nil {
		return err
	}
	segments, err := e.segments(version)
	if err != nil {
		return err
	}
	return tryEach(segments, run)
}

// tryEach runs over the segments until one has no damaged checkpoint. It returns the first damage if all have.
func tryEach(segments []segment, run func(segment) error) error {
	var damage error
	for _, s := range segments {
		err := run(s)
		if !errors.As(err, new(*damagedError)) {
			return err
		}
		if damage == nil {
			damage = err
		}
	}
	return damage
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
// uses nor moves the head. Errors are those of Load, and ErrNoVersion (wrapped).
func (l *Log) Files(ctx context.Context, version int64) (*State, error) {
	return l.replay(ctx, version, l.newState)
}

// replay is Files, into a state that begin makes anew for each try.
func (l *Log) replay(ctx context.Context, version int64, begin func() *State) (*State, error) {
	var (
		h     *Head
		state *State
	)
	err := l.replaying(ctx, version, func(s segment) (err error) {
		state = begin()
		if h, err = l.begin(ctx, s, state, true); err != nil {
			return err
		}
		return l.fetch(ctx, s.from, s.to, replay, func(p *parser) error {
			if err := checkFirst(l.store.URL(), p.commit); err != nil {
				return err
			}
			h.apply(p.commit)
			state.apply(p)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if err := h.gate(); err != nil {
		return nil, err
	}
	state.Version, state.Protocol, state.Metadata, state.Apps = h.Version, h.Protocol, h.Metadata, h.Apps
	state.schema, state.clustering = h.schema, h.clustering
	state.Files.seal()
	if state.removed != nil {
		state.removed.seal()
	}
	return state, nil
}

// Commits hands the commits of the versions [from, to] to fn in ascending order; a negative to means the newest. It begins
// with the first commit that is still there if that is later than from, and passes no judgement on the protocol. An error
// of fn ends it and is returned as it is; else they are ErrNoTable (wrapped), *CorruptError, or the storage's.
func (l *Log) Commits(ctx context.Context, from, to int64, fn func(*Commit) error) error {
	e, err := l.list(ctx, from)
	switch {
	case err != nil:
		return err
	case len(e.commits) == 0 && from <= 0:
		return fmt.Errorf("table %s: %w", l.store.URL(), ErrNoTable)
	case len(e.commits) == 0:
		return nil
	}
	first, last := e.commits[0], e.commits[len(e.commits)-1]
	from = max(from, first)
	if to < 0 || to > last {
		to = last
	}
	if hole := e.missing(from, to); hole >= 0 {
		return e.hole(hole, last)
	}
	return l.fetch(ctx, from, to, full, func(p *parser) error { return fn(p.commit) })
}
