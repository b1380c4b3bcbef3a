package commitlog

import (
	"context"
	"errors"
	"iter"
	"math"
	"time"
)

// noTuple stands for partition values that an action does not have at all, as removes may.
const noTuple = math.MaxUint32

// noSize stands for a size that a remove does not have.
const noSize = -1

// FilesAndRemoved is Files, with the remove actions of deletionTimestamps after a time as well: the tombstones of files that
// readers of older versions may still need ("Action Reconciliation").
func (l *Log) FilesAndRemoved(ctx context.Context, version int64, after time.Time) (*State, error) {
	return l.replay(ctx, version, func() *State {
		s := l.newState()
		s.removed, s.after = newFiles(), after.UnixMilli()
		return s
	})
}

// Removed goes through the tombstones that FilesAndRemoved has kept. dataChange, tags and statistics are not.
func (s *State) Removed() iter.Seq[Remove] {
	return func(yield func(Remove) bool) {
		if s.removed == nil {
			return
		}
		for a := range s.removed.All() {
			if !yield(removeOf(&a)) {
				return
			}
		}
	}
}

// removeOf is the tombstone that is kept as a file.
func removeOf(a *Add) Remove {
	r := Remove{
		Path: a.Path, DeletionTimestamp: a.ModificationTime, PartitionValues: a.PartitionValues, DeletionVector: a.DeletionVector,
		BaseRowID: a.BaseRowID, DefaultRowCommitVersion: a.DefaultRowCommitVersion,
	}
	if a.Size != noSize {
		r.Size = &a.Size
	}
	r.ExtendedFileMetadata = r.Size != nil && r.PartitionValues != nil
	return r
}

// apply reconciles a commit's actions on files and domains. Of an add and a remove of the same file, the remove counts.
func (s *State) apply(c *Commit) {
	s.Files.apply(c)
	s.applyDomains(c.Domains)
	if s.removed == nil {
		return
	}
	for i := range c.Adds {
		s.removed.remove(c.Adds[i].Path, c.Adds[i].DeletionVector.ID())
	}
	for i := range c.Removes {
		s.bury(&c.Removes[i])
	}
}

// bury keeps a tombstone, in place of an older one of the same file.
func (s *State) bury(r *Remove) {
	s.removed.remove(r.Path, r.DeletionVector.ID())
	if r.DeletionTimestamp <= s.after {
		return
	}
	a := Add{
		Path: r.Path, ModificationTime: r.DeletionTimestamp, PartitionValues: r.PartitionValues, Size: noSize, DeletionVector: r.DeletionVector,
		BaseRowID: r.BaseRowID, DefaultRowCommitVersion: r.DefaultRowCommitVersion,
	}
	if r.Size != nil {
		a.Size = *r.Size
	}
	s.removed.add(&a)
}

// removes takes the row group's tombstones.
func (g *rowGroup) removes(s *State) error {
	path := g.leaf("remove", "path")
	if path == nil {
		return nil
	}
	number := func(name string) func() (*int64, error) {
		l := g.leaf("remove", name)
		return func() (*int64, error) {
			v, ok, err := l.next()
			if err != nil || !ok {
				return nil, err
			}
			n := intOf(v)
			return &n, nil
		}
	}
	deleted, size, base, since := number("deletionTimestamp"), number("size"), number("baseRowId"), number("defaultRowCommitVersion")
	vectors := g.vectors("remove")
	values, err := g.mapping("remove", "partitionValues")
	if err != nil {
		return err
	}
	for range g.rows {
		v, ok, err := path.next()
		if err != nil {
			return err
		}
		r := Remove{Path: string(v.ByteArray())}
		at, err1 := deleted()
		var err2, err3, err4, err5, err6 error
		r.Size, err2 = size()
		r.BaseRowID, err3 = base()
		r.DefaultRowCommitVersion, err4 = since()
		r.DeletionVector, err5 = vectors.next()
		r.PartitionValues, err6 = values.texts()
		if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
			return err
		}
		if !ok {
			continue
		}
		if at != nil {
			r.DeletionTimestamp = *at
		}
		s.bury(&r)
	}
	return nil
}

// texts is the next row's map, nil when it is null.
func (m *mapping) texts() (map[string]*string, error) {
	if m == nil {
		return nil, nil
	}
	texts := map[string]*string{}
	ok, err := m.next(func(key, value []byte, there bool) {
		if texts[string(key)] = nil; there {
			text := string(value)
			texts[string(key)] = &text
		}
	})
	if err != nil || !ok {
		return nil, err
	}
	return texts, nil
}
