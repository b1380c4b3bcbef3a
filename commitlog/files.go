package commitlog

import (
	"bytes"
	"hash/maphash"
	"iter"
	"math"
)

// Files are the live files of a table at a version, in the order in which they were added. They are kept in about 100
// bytes each, so that a table may have millions: names in an arena, folders and partition values once each, statistics
// compressed. Safe for concurrent use once a State has been returned with them.
type Files struct {
	rows   fileRows
	live   int
	bytes  int64
	names  arena
	dirs   dictionary // of paths, with their last slash
	tuples dictionary // of partition values; see appendTupleValue
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

// rowsPiece is how many rows lie together.
const rowsPiece = 4096

// fileRows are rows by number, in pieces, so that none is copied as they become more.
type fileRows struct {
	pieces [][]fileRow
	n      uint32
}

// append returns the row's number.
func (r *fileRows) append(row fileRow) uint32 {
	if r.n%rowsPiece == 0 {
		r.pieces = append(r.pieces, make([]fileRow, rowsPiece))
	}
	id := r.n
	r.n++
	*r.at(id) = row
	return id
}

func (r *fileRows) at(id uint32) *fileRow { return &r.pieces[id/rowsPiece][id%rowsPiece] }

// extra is what few files have.
type extra struct {
	dv         *DeletionVector
	tags       map[string]string
	clustering string
}

func newFiles() *Files {
	f := &Files{seed: maphash.MakeSeed(), extras: map[uint32]extra{}}
	f.dirs.limit, f.tuples.limit = math.MaxUint16, math.MaxUint32
	f.dirs.id(nil)
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
		for id := range f.rows.n {
			r, text := f.rows.at(id), stats.next()
			if r.dead {
				continue
			}
			if r.tuple != tuple {
				values, tuple = parseTuple(f.values(r)), r.tuple
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
		for id := range f.rows.n {
			if r := f.rows.at(id); !r.dead && !yield(FileKey{CanonicalPath(f.path(r)), f.extras[id].dv.ID()}) {
				return
			}
		}
	}
}

func (f *Files) path(r *fileRow) string {
	return f.dirs.texts[r.dir] + string(f.names.at(r.name))
}

// values are the partition values, see appendTupleValue; nil when there are none at all.
func (f *Files) values(r *fileRow) []byte {
	if r.tuple == noTuple {
		return nil
	}
	return append([]byte{}, f.tuples.texts[r.tuple]...)
}

// grow makes room for n more files.
func (f *Files) grow(n int) { f.index.grow(int(f.rows.n) + n) }

// add takes a file, in the place of one with the same key. It copies what it keeps of the texts.
func (f *Files) add(a *fileAction) {
	id := f.insert(a.path, a.vector)
	r := f.rows.at(id)
	f.setSize(r, a.size)
	r.modified = a.time
	if r.tuple = noTuple; a.values != nil {
		r.tuple = f.tuples.id(a.values)
	}
	f.stats.append(a.stats)
	if a.base != nil {
		f.base.set(id, *a.base)
	}
	if a.since != nil {
		f.since.set(id, *a.since)
	}
	if len(a.tags) > 0 || a.clustering != "" {
		f.extras[id] = extra{a.vector, a.tags, a.clustering}
	}
}

func (f *Files) setSize(r *fileRow, size int64) {
	f.bytes += size - r.size
	r.size = size
}

// insert makes a row for a file and drops the one that has the same key. Its statistics are to be appended by the caller,
// row by row.
func (f *Files) insert(path []byte, dv *DeletionVector) uint32 {
	if n := int(f.rows.n); n > 2*f.live+4096 && n == f.stats.n {
		f.compact()
	}
	dir, name := f.split(path)
	id := f.rows.append(fileRow{name: f.names.append(name), dir: dir})
	f.live++
	if dv != nil {
		f.extras[id] = extra{dv: dv}
	}
	f.index.grow(int(f.rows.n))
	slot, hash, same := f.find(path, dv.ID())
	if same {
		f.drop(f.index.row(slot))
	}
	f.index.set(slot, hash, id)
	return id
}

// remove drops the file of a key, if it is there.
func (f *Files) remove(path []byte, dv string) {
	if len(f.index.slots) == 0 {
		return
	}
	if slot, _, same := f.find(path, dv); same {
		f.drop(f.index.row(slot))
	}
}

func (f *Files) drop(id uint32) {
	r := f.rows.at(id)
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
	if id, ok := f.dirs.tryID(path[:cut]); ok {
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

// find returns the slot of a key, whose path need not be canonical, and its hash: that of the row which has it, dead or not, or the free one where it belongs.
func (f *Files) find(path []byte, dv string) (slot int, hash uint64, same bool) {
	path = path[localScheme(path):]
	hash = f.hash(path, dv)
	slot, same = f.index.find(hash, func(id uint32) bool {
		r := f.rows.at(id)
		dir, name := CanonicalPath(f.dirs.texts[r.dir]), f.names.at(r.name)
		if dir == "" {
			name = name[localScheme(name):]
		}
		return len(path) >= len(dir) && string(path[:len(dir)]) == dir && bytes.Equal(path[len(dir):], name) &&
			f.extras[id].dv.ID() == dv
	})
	return slot, hash, same
}

// compact leaves the dead rows behind.
func (f *Files) compact() {
	living := newFiles()
	stats := statsReader{list: &f.stats}
	for id := range f.rows.n {
		r, text := f.rows.at(id), stats.next()
		if r.dead {
			continue
		}
		e := f.extras[id]
		living.add(&fileAction{
			path: []byte(f.path(r)), values: f.values(r), size: r.size, time: r.modified, stats: text,
			tags: e.tags, vector: e.dv, base: f.base.get(id), since: f.since.get(id), clustering: e.clustering,
		})
	}
	*f = *living
}

// seal ends the adding: what only that needs is given back.
func (f *Files) seal() {
	f.index, f.dirs.ids, f.tuples.ids = fileIndex{}, nil, nil
}

// appendTupleValue appends one column's partition value to a text that has all of a file's. A value has a 1 in front of
// it, and a null is a 0. Of a column that is there twice the last counts.
func appendTupleValue(b, name, value []byte, there bool) []byte {
	b = appendSized(b, name)
	if !there {
		return append(b, 0)
	}
	return appendSized(append(b, 1), value)
}

// parseTuple takes such a text apart, nil for nil.
func parseTuple(tuple []byte) map[string]*string {
	if tuple == nil {
		return nil
	}
	values := map[string]*string{}
	rest := tuple
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
