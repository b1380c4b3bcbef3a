package table

import (
	"fmt"
	"slices"
)

// NotNullError says that a row has no value where the table's schema demands one.
type NotNullError struct {
	Column string // dotted path
	Row    int    // of the record that was written
}

func (e *NotNullError) Error() string {
	return fmt.Sprintf("column %s is NOT NULL, and row %d of the record has no value for it; drop such records before, or make the column nullable",
		e.Column, e.Row)
}

// entries are the values of one column on their way into a file, absent ones included, with their levels.
type entries struct {
	at     []int32 // index in the column's array, ascending; absent: see absentAt
	rep    []uint8 // repetition levels; nil while nothing around is repeated
	absent int     // how many are absent
	rows   int     // that they are of
}

// absentAt is the entry of a value that is absent at a definition level.
func absentAt(def int) int32 { return int32(-def - 1) }

// definition is the definition level of an entry that is absent.
func definition(at int32) int32 { return -at - 1 }

// shredder takes rows apart into the entries of their leaves: the striping of the Dremel paper, a whole column at a
// time. Different top-level columns may be taken apart at the same time.
type shredder struct {
	leaf    takeLeaf
	nulls   []int64       // by node: rows without a value since the file began, or entries below a list
	scratch []nodeScratch // by node
}

// takeLeaf takes the values of a leaf that are there, by their index in its array, and the levels of these and of absent ones, of so many
// rows. None of it is kept.
type takeLeaf func(b *bound, at []int32, l levelled, rows int) error

type nodeScratch struct {
	at    []int32 // entries without the nulls of the column's own array; of a leaf: without any that is absent
	def   []uint8 // definition levels of a leaf's entries
	items []int32 // entries of a list's items
	rep   []uint8 // the items' repetition levels
}

func newShredder(nodes int, leaf takeLeaf) *shredder {
	return &shredder{leaf: leaf, nulls: make([]int64, nodes), scratch: make([]nodeScratch, nodes)}
}

// shred hands the entries of rows to the leaves below a top-level column.
func (s *shredder) shred(b *bound, rows []int32) error {
	return s.visit(b, entries{at: rows, rows: len(rows)})
}

func (s *shredder) visit(b *bound, e entries) error {
	if b.isLeaf() {
		return s.visitLeaf(b, e)
	}
	e = s.dropNulls(b, e)
	s.nulls[b.node] += int64(e.absent)
	if b.rep > 0 {
		e = s.items(b, e)
	}
	for _, child := range b.children {
		if err := s.visit(child, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *shredder) visitLeaf(b *bound, e entries) error {
	own := &s.scratch[b.node]
	at, l := e.at, levelled{levels: len(e.at), rep: e.rep}
	if b.nullable && b.hasNulls() && e.absent == 0 && consecutive(e.at) {
		at, l.def = own.presentByBit(b, e.at)
	} else if e = s.dropNulls(b, e); e.absent > 0 {
		at, l.def = own.present(b.def, e.at)
	}
	l.absent = l.levels - len(at)
	s.nulls[b.node] += int64(l.absent)
	return s.leaf(b, at, l, e.rows)
}

// presentByBit returns those of consecutive indexes that are not null in the array of a leaf that may be null, and the definition levels of all.
func (n *nodeScratch) presentByBit(b *bound, all []int32) (present []int32, def []uint8) {
	n.grow(len(all))
	present, def = n.at, n.def
	valid, null := b.values.NullBitmapBytes(), uint8(b.nullDef)
	index, there := all[0], 0
	for bit := uint(b.values.Data().Offset()) + uint(index); len(def) > 0; {
		bits := valid[bit/8] >> (bit % 8)
		some := def[:min(8-bit%8, uint(len(def)))]
		for i := range some {
			isThere := bits & 1 // a branch would often go the wrong way
			some[i] = null + isThere
			present[there] = index
			there += int(isThere)
			bits >>= 1
			index++
		}
		bit, def = bit+uint(len(some)), def[len(some):]
	}
	return present[:there], n.def
}

// present returns those of a leaf's entries that are not absent, and the definition levels of all, which is def where they are there.
func (n *nodeScratch) present(def int, at []int32) ([]int32, []uint8) {
	n.grow(len(at))
	present, levels, there := n.at, n.def[:len(at)], 0
	for i, index := range at { // which may be of n.at: none is written over before it is read
		absent := index >> 31 // all ones, or zeros: a branch would often go the wrong way
		levels[i] = uint8(int32(def)&^absent | definition(index)&absent)
		present[there] = index
		there += 1 + int(absent)
	}
	return present[:there], levels
}

// grow makes room for so many entries of a leaf.
func (n *nodeScratch) grow(entries int) {
	n.at, n.def = slices.Grow(n.at[:0], entries)[:entries], slices.Grow(n.def[:0], entries)[:entries]
}

// hasNulls says whether values of the array are null; there is an array.
func (b *bound) hasNulls() bool { return b.values != nil && b.values.NullN() > 0 }

// dropNulls returns the entries with those absent that are null in the column's array.
func (s *shredder) dropNulls(b *bound, e entries) entries {
	if b.values != nil && b.values.NullN() == 0 {
		return e
	}
	own := &s.scratch[b.node]
	own.at = append(own.at[:0], e.at...)
	e.at = own.at
	null := absentAt(b.nullDef)
	if b.values == nil {
		for i, at := range e.at {
			if at >= 0 {
				e.at[i] = null
			}
		}
		e.absent = len(e.at)
		return e
	}
	valid, offset := b.values.NullBitmapBytes(), b.values.Data().Offset()
	nulls := int32(0)
	for i, at := range e.at {
		bit := uint(offset + int(max(at, 0)))
		isNull := (int32(valid[bit/8]>>(bit%8))&1 - 1) &^ (at >> 31) // all ones, or zeros
		e.at[i] = at&^isNull | null&isNull
		nulls -= isNull
	}
	e.absent += int(nulls)
	return e
}

// fewItems is how many items of a list are entered at a time, whether it has as many or not.
const fewItems = 4

// items returns the entries of the items of lists or maps. An empty list is an entry that is absent at the list's level.
func (s *shredder) items(b *bound, e entries) entries {
	own := &s.scratch[b.node]
	items, reps, n := own.items, own.rep, 0
	empty, inside := absentAt(b.def), uint8(b.column.rep)
	absent := int32(0)
	for i, list := range e.at {
		rep := uint8(0)
		if e.rep != nil {
			rep = e.rep[i]
		}
		start, end := int32(0), int32(0)
		if list >= 0 {
			start, end, list = b.offsets[list], b.offsets[list+1], empty
		}
		none := (start-end)>>31 + 1 // 1 if there is no item: a branch would often go the wrong way, and so would a loop
		count := int(end - start + none)
		if room := n + max(count, fewItems); room > min(len(items), len(reps)) {
			items, reps = roomier(items[:n], room), roomier(reps[:n], room)
		}
		some, levels := (*[fewItems]int32)(items[n:]), (*[fewItems]uint8)(reps[n:])
		some[0], some[1], some[2], some[3] = start+none*(list-start), start+1, start+2, start+3
		levels[0], levels[1], levels[2], levels[3] = rep, inside, inside, inside
		for i := fewItems; i < count; i++ {
			items[n+i], reps[n+i] = start+int32(i), inside
		}
		n += count
		absent += none
	}
	own.items, own.rep = items, reps
	return entries{at: items[:n], rep: reps[:n], absent: int(absent), rows: e.rows}
}

// roomier is a slice with the same beginning that is at least so long.
func roomier[T any](s []T, room int) []T {
	s = slices.Grow(s, room-len(s))
	return s[:cap(s)]
}

// checkNotNull finds the first of the rows that has no value where one is demanded.
func checkNotNull(columns []*bound, rows []int32) error {
	for _, b := range columns {
		if !b.mayLack() {
			continue
		}
		for _, row := range rows {
			if path, lacks := b.lacks(int(row)); lacks {
				return &NotNullError{Column: path, Row: int(row)}
			}
		}
	}
	return nil
}

// mayLack says whether any value of the array can be missing where one is demanded.
func (b *bound) mayLack() bool {
	if !b.nullable && (b.values == nil || b.values.NullN() > 0) {
		return true
	}
	for _, child := range b.children {
		if b.values != nil && child.mayLack() {
			return true
		}
	}
	return false
}

// lacks says whether a value is missing at an index of the array, and of which column.
func (b *bound) lacks(i int) (path string, lacks bool) {
	if b.null(i) {
		return b.path, !b.nullable
	}
	start, end := i, i+1
	if b.offsets != nil {
		start, end = int(b.offsets[i]), int(b.offsets[i+1])
	}
	for _, child := range b.children {
		for at := start; at < end; at++ {
			if path, lacks := child.lacks(at); lacks {
				return path, true
			}
		}
	}
	return "", false
}
