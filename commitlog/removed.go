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

// FilesAndRemoved is Files, with the remove actions of deletionTimestamps after a time as well: the tombstones of files that
// readers of older versions may still need ("Action Reconciliation").
func (l *Log) FilesAndRemoved(ctx context.Context, version int64, after time.Time) (*State, error) {
	return l.replay(ctx, version, func() *State {
		s := l.newState()
		s.removed, s.after = newFiles(l.store), after.UnixMilli()
		return s
	})
}

// Removed goes through the tombstones that FilesAndRemoved has kept. dataChange, tags and statistics are not.
func (s *State) Removed() iter.Seq[Remove] {
	return func(yield func(Remove) bool) {
		if s.removed == nil {
			return
		}
		for _, a := range s.removed.adds() {
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
func (s *State) apply(c *parser) {
	for i := range c.adds {
		s.Files.add(&c.adds[i])
	}
	for i := range c.removes {
		s.Files.remove(c.removes[i].path, c.removes[i].vector.ID())
	}
	applyDomains(s.Domains, c.commit.Domains)
	if s.removed == nil {
		return
	}
	for i := range c.adds {
		s.removed.remove(c.adds[i].path, c.adds[i].vector.ID())
	}
	for i := range c.removes {
		s.bury(c.removes[i])
	}
}

// bury keeps a tombstone, in place of an older one of the same file.
func (s *State) bury(r fileAction) {
	s.removed.remove(r.path, r.vector.ID())
	if r.time <= s.after {
		return
	}
	r.stats, r.tags, r.clustering = nil, nil, ""
	s.removed.add(&r)
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
		r := fileAction{path: v.ByteArray(), size: noSize}
		at, err1 := deleted()
		bytes, err2 := size()
		var err3, err4, err5, err6 error
		r.base, err3 = base()
		r.since, err4 = since()
		r.vector, err5 = vectors.next()
		r.values, err6 = values.tuple()
		if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
			return err
		}
		if !ok {
			continue
		}
		if at != nil {
			r.time = *at
		}
		if bytes != nil {
			r.size = *bytes
		}
		s.bury(r)
	}
	return nil
}

// tuple is the next row's map as one text, see appendTupleValue; nil when it is null.
func (m *mapping) tuple() ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	tuple := []byte{}
	ok, err := m.next(func(key, value []byte, there bool) { tuple = appendTupleValue(tuple, key, value, there) })
	if err != nil || !ok {
		return nil, err
	}
	return tuple, nil
}
