package commitlog

import (
	"bytes"
	"hash/maphash"
	"iter"
	"maps"
	"math"
	"slices"
)

// Files are the live files of a table at a version, in the order in which they were added. They are kept in about 100
// bytes each, so that a table may have millions: names in an arena, folders and partition values once each, statistics
// compressed. Safe for concurrent use once a State has been returned with them.
type Files struct {
	rows   []fileRow
	live   int
	bytes  int64
	names  arena
	dirs   dictionary // of paths, with their last slash
	tuples dictionary // of partition values; see appendTuple
	stats  statsList  // by row
	base   sparseInts // baseRowId, by row
	since  sparseInts // defaultRowCommitVersion, by row
	extras map[uint32]extra
	index  fileIndex
	seed   maphash.Seed
}

// fileRow is what all files have.
type fileRow struct {
	name     uint64 // in the arena
	size     int64  // bytes
	modified int64  // ms since the epoch
	tuple    uint32 // noTuple: none
	dir      uint16
	dead     bool
}

// extra is what few files have.
type extra struct {
	dv         *DeletionVector
	tags       map[string]string
	clustering string
}

func newFiles() *Files {
	f := &Files{seed: maphash.MakeSeed(), extras: map[uint32]extra{}}
	f.dirs.limit, f.tuples.limit = math.MaxUint16, math.MaxUint32
	f.dirs.id("")
	return f
}

// Len is the number of files.
func (f *Files) Len() int { return f.live }

// Bytes is the sum of their sizes.
func (f *Files) Bytes() int64 { return f.bytes }

// All goes through the files as add actions. dataChange is not kept: it says nothing of a state. What an action refers to
// is shared: not to be changed.
func (f *Files) All() iter.Seq[Add] {
	return func(yield func(Add) bool) {
		stats := statsReader{list: &f.stats}
		var values map[string]*string
		tuple := uint32(noTuple)
		for i := range f.rows {
			r, id := &f.rows[i], uint32(i)
			text := stats.next()
			if r.dead {
				continue
			}
			switch {
			case r.tuple == noTuple:
				values, tuple = nil, noTuple
			case values == nil || tuple != r.tuple:
				values, tuple = parseTuple(f.tuples.texts[r.tuple]), r.tuple
			}
			e := f.extras[id]
			a := Add{
				Path: f.path(r), PartitionValues: values, Size: r.size, ModificationTime: r.modified, Stats: string(text),
				Tags: e.tags, DeletionVector: e.dv, BaseRowID: f.base.get(id), DefaultRowCommitVersion: f.since.get(id), ClusteringProvider: e.clustering,
			}
			if !yield(a) {
				return
			}
		}
	}
}

// Keys goes through what identifies the files.
func (f *Files) Keys() iter.Seq[FileKey] {
	return func(yield func(FileKey) bool) {
		for i := range f.rows {
			if r := &f.rows[i]; !r.dead && !yield(FileKey{f.path(r), f.extras[uint32(i)].dv.ID()}) {
				return
			}
		}
	}
}

func (f *Files) path(r *fileRow) string {
	return f.dirs.texts[r.dir] + string(f.names.at(r.name))
}

// grow makes room for n more files.
func (f *Files) grow(n int) {
	f.rows = slices.Grow(f.rows, n)
	f.index.grow(len(f.rows) + n)
}

// add takes a file, in the place of one with the same key.
func (f *Files) add(a *Add) {
	id := f.insert([]byte(a.Path), a.DeletionVector)
	r := &f.rows[id]
	f.setSize(r, a.Size)
	r.modified = a.ModificationTime
	if r.tuple = noTuple; a.PartitionValues != nil {
		r.tuple = f.tuples.id(string(appendTuple(nil, a.PartitionValues)))
	}
	f.stats.append([]byte(a.Stats))
	if a.BaseRowID != nil {
		f.base.set(id, *a.BaseRowID)
	}
	if a.DefaultRowCommitVersion != nil {
		f.since.set(id, *a.DefaultRowCommitVersion)
	}
	if len(a.Tags) > 0 || a.ClusteringProvider != "" {
		f.extras[id] = extra{a.DeletionVector, a.Tags, a.ClusteringProvider}
	}
}

func (f *Files) setSize(r *fileRow, size int64) {
	f.bytes += size - r.size
	r.size = size
}

// insert makes a row for a file and drops the one that has the same key. Its statistics are to be appended by the caller,
// row by row.
func (f *Files) insert(path []byte, dv *DeletionVector) uint32 {
	if len(f.rows) > 2*f.live+4096 && f.stats.n == len(f.rows) {
		f.compact()
	}
	id := uint32(len(f.rows))
	dir, name := f.split(path)
	f.rows = append(f.rows, fileRow{name: f.names.append(name), dir: dir})
	f.live++
	if dv != nil {
		f.extras[id] = extra{dv: dv}
	}
	f.index.grow(len(f.rows))
	slot, same := f.find(path, dv.ID())
	if same {
		f.drop(f.index.row(slot))
	}
	f.index.set(slot, f.hash(path, dv.ID()), id)
	return id
}

// remove drops the file of a key, if it is there.
func (f *Files) remove(path string, dv string) {
	if len(f.index.slots) == 0 {
		return
	}
	if slot, same := f.find([]byte(path), dv); same {
		f.drop(f.index.row(slot))
	}
}

func (f *Files) drop(id uint32) {
	r := &f.rows[id]
	if r.dead {
		return
	}
	r.dead = true
	f.live--
	f.bytes -= r.size
}

// split cuts a path behind its last slash, unless there are too many folders to keep them once each.
func (f *Files) split(path []byte) (dir uint16, name []byte) {
	cut := bytes.LastIndexByte(path, '/') + 1
	if id, ok := f.dirs.tryID(string(path[:cut])); ok {
		return uint16(id), path[cut:]
	}
	return 0, path // behind the empty one, which is the first
}

func (f *Files) hash(path []byte, dv string) uint64 {
	h := maphash.Bytes(f.seed, path)
	if dv != "" {
		h ^= maphash.String(f.seed, dv)
	}
	return h
}

// find returns the slot of a key: that of the row which has it, dead or not, or the free one where it belongs.
func (f *Files) find(path []byte, dv string) (slot int, same bool) {
	hash := f.hash(path, dv)
	return f.index.find(hash, func(id uint32) bool {
		r := &f.rows[id]
		dir := f.dirs.texts[r.dir]
		return len(path) >= len(dir) && string(path[:len(dir)]) == dir && bytes.Equal(path[len(dir):], f.names.at(r.name)) &&
			f.extras[id].dv.ID() == dv
	})
}

// compact leaves the dead rows behind.
func (f *Files) compact() {
	living := newFiles()
	for a := range f.All() {
		living.add(&a)
	}
	*f = *living
}

// seal ends the adding: what only that needs is given back.
func (f *Files) seal() {
	f.index, f.dirs.ids, f.tuples.ids = fileIndex{}, nil, nil
}

// apply reconciles a commit's files.
func (f *Files) apply(c *Commit) {
	for i := range c.Adds {
		f.add(&c.Adds[i])
	}
	for i := range c.Removes {
		f.remove(c.Removes[i].Path, c.Removes[i].DeletionVector.ID())
	}
}

// appendTuple appends partition values as one text, in the order of their columns' names.
func appendTuple(b []byte, values map[string]*string) []byte {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if v := values[name]; v != nil {
			b = appendTupleValue(b, []byte(name), []byte(*v), true)
		} else {
			b = appendTupleValue(b, []byte(name), nil, false)
		}
	}
	return b
}

// appendTupleValue appends one column's. A value has a 1 in front of it, and a null is a 0.
func appendTupleValue(b, name, value []byte, there bool) []byte {
	b = appendSized(b, name)
	if !there {
		return append(b, 0)
	}
	return appendSized(append(b, 1), value)
}

func parseTuple(tuple string) map[string]*string {
	values := map[string]*string{}
	rest := []byte(tuple)
	for len(rest) > 0 {
		var name, value []byte
		name, rest = cutSized(rest)
		there := rest[0] == 1
		if rest = rest[1:]; !there {
			values[string(name)] = nil
			continue
		}
		value, rest = cutSized(rest)
		text := string(value)
		values[string(name)] = &text
	}
	return values
}
