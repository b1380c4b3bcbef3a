package commitlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sluicedata/sluice/storage"
)

// LogFault is something wrong with the log that need not keep its newest version from being read.
type LogFault struct {
	Key     string // of the file at fault
	Problem string
}

// Verify reads all of the log and hands what is wrong with it to fault: commits that are missing or damaged, log checkpoints
// that are damaged or differ from the commits, a _last_checkpoint that leads astray, commits that remove files which are not there or
// add such as are. Commits that have been cleaned up before a log checkpoint are no fault. It holds two states of the table at a time. Errors are ErrNoTable (wrapped), or the storage's.
func (l *Log) Verify(ctx context.Context, fault func(LogFault)) error {
	e, err := l.list(ctx, 0)
	if err != nil {
		return err
	}
	if e.newest() < 0 {
		return fmt.Errorf("table %s: %w", e.table, ErrNoTable)
	}
	if err := l.verifyHint(ctx, e, fault); err != nil {
		return err
	}
	e.verifyCommits(fault)
	v := &verifier{log: l, listing: e, fault: fault}
	for i := range e.checkpoints {
		if err := v.checkpoint(ctx, &e.checkpoints[i]); err != nil {
			return err
		}
	}
	if err := v.advance(ctx, e.newest()); err != nil {
		return err
	}
	v.doubled(e.newest())
	return nil
}

// verifyHint checks that what _last_checkpoint names is there: other engines refuse a table where it is not.
func (l *Log) verifyHint(ctx context.Context, e *listing, fault func(LogFault)) error {
	body, err := l.store.Get(ctx, hintKey)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var last struct {
		Version *int64 `json:"version"`
	}
	switch err := json.Unmarshal(body, &last); {
	case err != nil:
		fault(LogFault{hintKey, fmt.Sprintf("it is not to be read: %v", err)})
	case last.Version == nil:
		fault(LogFault{hintKey, "it names no version"})
	case !slices.ContainsFunc(e.checkpoints, func(c checkpoint) bool { return c.version == *last.Version }):
		fault(LogFault{hintKey, fmt.Sprintf("it names a log checkpoint of version %d, which is not there, or not whole", *last.Version)})
	}
	return nil
}

// verifyCommits tells of holes.
func (e *listing) verifyCommits(fault func(LogFault)) {
	if len(e.commits) == 0 {
		return
	}
	next := int64(0) // the first that has to be there
	for _, c := range e.checkpoints {
		if c.version+1 >= e.commits[0] {
			next = min(e.commits[0], c.version+1)
			break
		}
	}
	for _, version := range e.commits {
		if version > next {
			fault(LogFault{commitKey(next), fmt.Sprintf("it is missing, and so are all up to version %d", version)})
		}
		next = max(next, version+1)
	}
}

// verifier replays the commits beside the log checkpoints.
type verifier struct {
	log     *Log
	listing *listing
	fault   func(LogFault)
	next    int64  // the first commit that has not been read
	state   *State // of the version before; nil while it is not known
}

// checkpoint compares a log checkpoint with the commits that lead up to it.
func (v *verifier) checkpoint(ctx context.Context, c *checkpoint) error {
	if err := v.advance(ctx, c.version); err != nil {
		return err
	}
	read := v.log.newState()
	r := checkpointReader{log: v.log, state: read, files: true}
	var damaged *damagedError
	switch err := r.check(ctx, c); {
	case errors.As(err, &damaged):
		v.fault(LogFault{damaged.Key, damaged.Reason})
		return nil
	case err != nil:
		return err
	}
	if v.state == nil {
		v.state = read
		return nil
	}
	for _, problem := range v.state.differences(read) {
		v.fault(LogFault{c.keys[0], problem})
	}
	return nil
}

// advance applies the commits up to a version. Where one is missing or damaged nothing is known until the next checkpoint.
func (v *verifier) advance(ctx context.Context, to int64) error {
	from, known := v.next, v.state
	if known == nil && from == 0 {
		known = v.log.newState()
	}
	v.next = to + 1
	if v.listing.missing(from, to) >= 0 {
		v.state = nil
		return nil
	}
	err := v.log.fetch(ctx, from, to, replay, func(p *parser) error {
		if known == nil {
			return nil
		}
		odd := known.misfits(p)
		known.follow(p)
		return v.tell(ctx, p.commit.Version, odd)
	})
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		v.fault(LogFault{corrupt.File(), corrupt.Reason})
		v.state = nil
		return nil
	}
	v.state = known
	return err
}

// follow applies a commit.
func (s *State) follow(p *parser) {
	c := p.commit
	s.Version = c.Version
	if c.Protocol != nil {
		s.Protocol = *c.Protocol
	}
	if c.Metadata != nil {
		s.Metadata = c.Metadata.complete()
	}
	applyTxns(s.Apps, c)
	s.apply(p)
}
