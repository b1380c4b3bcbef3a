package commitlog

import (
	"bytes"
	"context"
	"hash/maphash"
	"iter"
	"math"

	"github.com/sluicedata/sluice/storage"
)

// Files are the live files of a table at a version, in the order in which they were added. They are kept in about 60
// bytes each, so that a table may have millions: names packed, folders and partition values once each. Statistics are
// kept compressed if they came with a commit, and read when asked for if they are in a log checkpoint in Parquet. Safe for
// concurrent use once a State has been returned with them.
type Files struct {
	store  storage.Store
	rows   fileRows
	live   int
	bytes  int64
	names  names
	dirs   dictionary // of paths, with their last slash
	tuples dictionary // of partition values; see appendTupleValue
	runs   []statsRun // ascending
	stats  statsList  // of the rows that are in no run
	base   sparseInts // baseRowId, by row
	since  sparseInts // defaultRowCommitVersion, by row
	extras map[uint32]extra
	index  fileIndex
	seed   maphash.Seed
}

// fileRow is what all files have.
type fileRow struct {
	name     uint64 // its place in names
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

func newFiles(store storage.Store) *Files {
	f := &Files{store: store, names: newNames(), seed: maphash.MakeSeed(), extras: map[uint32]extra{}}
	f.dirs.limit, f.tuples.limit = math.MaxUint16, math.MaxUint32
	f.dirs.id(nil)
	return f
}

// Len is the number of files.
func (f *Files) Len() int { return f.live }

// Bytes is the sum of their sizes.
func (f *Files) Bytes() int64 { return f.bytes }

// All goes through the files as add actions, and ends with the first error, which is of reading statistics: a *CorruptError, or the
// storage's, which wraps storage.ErrNotExist if the log checkpoint that has them has been deleted since. dataChange is not kept: it says
// nothing of a state. What an action refers to is shared: not to be changed.
func (f *Files) All(ctx context.Context) iter.Seq2[Add, error] {
	return f.wanted(ctx, func(*Add) bool { return true })
}

// wanted is All, of those files that want, which is shown no statistics, says so of.
func (f *Files) wanted(ctx context.Context, want func(*Add) bool) iter.Seq2[Add, error] {
	return func(yield func(Add, error) bool) {
		stats := f.statsReader(false)
		defer stats.close()
		for id, a := range f.adds() {
			if !want(&a) {
				continue
			}
			text, err := stats.at(ctx, id)
			a.Stats = string(text)
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// adds goes through the rows as add actions without their statistics.
func (f *Files) adds() iter.Seq2[uint32, Add] {
	return func(yield func(uint32, Add) bool) {
		var values map[string]*string
		tuple := uint32(noTuple)
		for id := range f.rows.n {
			r := f.rows.at(id)
			if r.dead {
				continue
			}
			if r.tuple != tuple {
				values, tuple = parseTuple(f.values(r)), r.tuple
			}
			e := f.extras[id]
			a := Add{
				Path: f.path(r), PartitionValues: values, Size: r.size, ModificationTime: r.modified, Tags: e.tags, DeletionVector: e.dv,
				BaseRowID: f.base.get(id), DefaultRowCommitVersion: f.since.get(id), ClusteringProvider: e.clustering,
			}
			if !yield(id, a) {
				return
			}
		}
	}
}

// Paths goes through the files, with their deletion vectors; nil for none.
func (f *Files) Paths() iter.Seq2[string, *DeletionVector] {
	return func(yield func(string, *DeletionVector) bool) {
		for id := range f.rows.n {
			if r := f.rows.at(id); !r.dead && !yield(f.path(r), f.extras[id].dv) {
				return
			}
		}
	}
}

// Keys goes through what identifies the files.
func (f *Files) Keys() iter.Seq[FileKey] {
	return func(yield func(FileKey) bool) {
		for path, dv := range f.Paths() {
			if !yield(FileKey{CanonicalPath(path), dv.ID()}) {
				return
			}
		}
	}
}

func (f *Files) path(r *fileRow) string {
	var room [256]byte
	return string(f.appendPath(room[:0], r))
}

func (f *Files) appendPath(b []byte, r *fileRow) []byte {
	return f.names.appendAt(append(b, f.dirs.texts[r.dir]...), r.name)
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
	if f.rows.n > 2*uint32(f.live)+f.inRuns()+4096 {
		f.compact()
	}
	f.addRow(a)
	f.stats.append(a.stats)
}

// addRow is add, without statistics. It returns the number of the row.
func (f *Files) addRow(a *fileAction) uint32 {
	id := f.insert(a.path, a.vector)
	r := f.rows.at(id)
	f.setSize(r, a.size)
	r.modified = a.time
	if r.tuple = noTuple; a.values != nil {
		r.tuple = f.tuples.id(a.values)
	}
	if a.base != nil {
		f.base.set(id, *a.base)
	}
	if a.since != nil {
		f.since.set(id, *a.since)
	}
	if len(a.tags) > 0 || a.clustering != "" {
		f.extras[id] = extra{a.vector, a.tags, a.clustering}
	}
	return id
}

func (f *Files) setSize(r *fileRow, size int64) {
	f.bytes += size - r.size
	r.size = size
}

// insert makes a row for a file and drops the one that has the same key. It is for the caller to see that the row has statistics.
func (f *Files) insert(path []byte, dv *DeletionVector) uint32 {
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
	cut := 0
	for next := bytes.IndexByte(path, '/'); next >= 0; next = bytes.IndexByte(path[cut:], '/') { // LastIndexByte goes byte by byte
		cut += next + 1
	}
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
	return f.findIn(&f.index, path, dv)
}

// findIn is find, in an index of the files.
func (f *Files) findIn(index *fileIndex, path []byte, dv string) (slot int, hash uint64, same bool) {
	path = path[localScheme(path):]
	hash = f.hash(path, dv)
	slot, same = index.find(hash, func(id uint32) bool {
		return f.isNamed(f.rows.at(id), path) && f.extras[id].dv.ID() == dv
	})
	return slot, hash, same
}

// isNamed tells whether a canonical path is the row's.
func (f *Files) isNamed(r *fileRow, path []byte) bool {
	var room [256]byte
	own := f.appendPath(room[:0], r)
	return bytes.Equal(own[localScheme(own):], path)
}

// compact leaves the dead rows behind, but for those of runs, which are one for each add of a row group.
func (f *Files) compact() {
	living := newFiles(f.store)
	stats := listedStats{list: &f.stats}
	for id := range f.rows.n {
		r, e, run := f.rows.at(id), f.extras[id], f.runOf(id)
		a := fileAction{
			path: []byte(f.path(r)), values: f.values(r), size: r.size, time: r.modified,
			tags: e.tags, vector: e.dv, base: f.base.get(id), since: f.since.get(id), clustering: e.clustering,
		}
		if run < 0 {
			if a.stats = stats.next(); !r.dead {
				living.addRow(&a)
				living.stats.append(a.stats)
			}
			continue
		}
		at := living.addRow(&a)
		if f.runs[run].first == id {
			moved := f.runs[run]
			moved.first = at
			living.runs = append(living.runs, moved)
		}
		if r.dead {
			living.drop(at)
		}
	}
	*f = *living
}

// inRuns is how many rows are in runs.
func (f *Files) inRuns() uint32 {
	n := uint32(0)
	for i := range f.runs {
		n += f.runs[i].n
	}
	return n
}

// seal ends the adding: what only that needs is given back.
func (f *Files) seal() {
	f.names.seal()
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
