package vacuum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// Options say what is deleted. The zero value is a full vacuum by the table's own retention.
type Options struct {
	// Retention is for how long a file stays after it was removed or written, if RetentionSet; else the table says so.
	Retention    time.Duration
	RetentionSet bool
	// Lite deletes only what commits in the log tell to have been removed, and does not list the folder.
	Lite bool
	// EvenIfInUse allows a retention shorter than the table's: readers, and writers of other engines, lose files under their
	// hands.
	EvenIfInUse bool
	// Now is the time that the retention is counted back from.
	Now time.Time
}

// RetentionError says that a retention is shorter than the table's, or than none.
type RetentionError struct{ Retention, Least time.Duration }

func (e *RetentionError) Error() string {
	if e.Retention < 0 {
		return fmt.Sprintf("a retention of %v: it cannot be below 0", e.Retention)
	}
	return fmt.Sprintf("a retention of %v is shorter than the table's %v: it deletes files under the hands of readers, of writers of other engines, and of versions that are to be restored; give at least %[2]v, set delta.deletedFileRetentionDuration, or say that it may delete files even if they are in use (--even-if-in-use)",
		e.Retention, e.Least)
}

// PathError says that a version names a file by a path that cannot be read, or so the file of its deletion vector. Which files the
// table needs cannot be told then, and none may be deleted.
type PathError struct {
	Version int64
	Path    string // of the data file, as the log has it
	Err     error
}

func (e *PathError) Error() string {
	return fmt.Sprintf("version %d: %v; which files the table needs cannot be told, so nothing is deleted: have the engine that wrote it mend its log",
		e.Version, e.Err)
}

func (e *PathError) Unwrap() error { return e.Err }

// Plan is a table whose log has been read.
type Plan struct {
	Version    int64     // the newest that was read
	Before     time.Time // what was removed or written later stays
	Lite       bool
	References *References

	store      storage.Store
	log        *commitlog.Log
	partitions []string
	orphans    time.Time // orphans that were written later stay
}

// NewPlan reads the log of the table in a store. Errors are those of commitlog.Log.Load, an *UnsupportedError when not all
// is known of what the table needs, a *RetentionError, and a *PathError.
func NewPlan(ctx context.Context, store storage.Store, o Options) (*Plan, error) {
	log := commitlog.New(store)
	head, err := log.Load(ctx)
	if err != nil {
		return nil, err
	}
	if err := head.Vacuumable(); err != nil {
		return nil, err
	}
	retention, err := o.retention(head)
	if err != nil {
		return nil, err
	}
	p := &Plan{Before: o.Now.Add(-retention), Lite: o.Lite, store: store, log: log, partitions: head.Metadata.PartitionColumns}
	age, err := store.Unsettled(ctx, func(string) error { return nil })
	if err != nil {
		return nil, err
	}
	p.orphans = o.Now.Add(-max(retention, age))
	return p, p.read(ctx)
}

func (o *Options) retention(head *commitlog.Head) (time.Duration, error) {
	least, err := head.DeletedFileRetention()
	switch {
	case err != nil:
		return 0, err
	case !o.RetentionSet:
		return least, nil
	case o.Retention < 0, o.Retention < least && !o.EvenIfInUse:
		return 0, &RetentionError{o.Retention, least}
	}
	return o.Retention, nil
}

// read takes in the newest version, the tombstones of its log checkpoint, and all commits that are still there.
func (p *Plan) read(ctx context.Context) error {
	state, err := p.log.FilesAndRemoved(ctx, -1, p.Before)
	if err != nil {
		return err
	}
	p.Version = state.Version
	p.References = newReferences(p.Before)
	for path, vector := range state.Files.Paths() {
		if err := p.References.file(p.Version, path, vector, Needed); err != nil {
			return err
		}
	}
	for r := range state.Removed() {
		if err := p.References.remove(p.Version, &r, Needed); err != nil {
			return err
		}
	}
	err = p.log.Commits(ctx, 0, p.Version, p.References.history)
	if errors.Is(err, commitlog.ErrNoTable) { // a log checkpoint is all there is
		return nil
	}
	return err
}

// catchUp takes in what has been committed since, so that nothing is deleted that it refers to.
func (p *Plan) catchUp(ctx context.Context) error {
	return p.log.Commits(ctx, p.Version+1, -1, func(c *commitlog.Commit) error {
		switch {
		case c.Version != p.Version+1:
			return fmt.Errorf("commits from version %d on have been cleaned up meanwhile; start again", p.Version+1)
		case c.Protocol != nil:
			return fmt.Errorf("version %d changes the table's protocol; start again", c.Version)
		}
		p.Version = c.Version
		return p.References.news(c)
	})
}

// verdict is what becomes of a file.
type verdict int

const (
	needed verdict = iota
	young          // not needed, but too young
	deletable
)

func (p *Plan) verdict(info storage.Info, use Use) verdict {
	before := p.Before
	switch use {
	case Needed:
		return needed
	case Orphan:
		before = p.orphans
	}
	if !info.Modified.Before(before) {
		return young
	}
	return deletable
}
