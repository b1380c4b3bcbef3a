package table

import "fmt"

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
	leaf    func(b *bound, e entries) error // takes a leaf's entries; they are not kept
	nulls   []int64                         // by node: rows without a value since the file began, or entries below a list
	scratch []nodeScratch                   // by node
}

type nodeScratch struct {
	at    []int32 // entries without the nulls of the column's own array
	items []int32 // entries of a list's items
	rep   []uint8 // the items' repetition levels
}

func newShredder(nodes int, leaf func(*bound, entries) error) *shredder {
	return &shredder{leaf: leaf, nulls: make([]int64, nodes), scratch: make([]nodeScratch, nodes)}
}

// shred hands the entries of rows to the leaves below a top-level column.
func (s *shredder) shred(b *bound, rows []int32) error {
	return s.visit(b, entries{at: rows, rows: len(rows)})
}

func (s *shredder) visit(b *bound, e entries) error {
	e = s.dropNulls(b, e)
	s.nulls[b.node] += int64(e.absent)
	switch {
	case b.isLeaf():
		return s.leaf(b, e)
	case b.rep > 0:
		e = s.items(b, e)
	}
	for _, child := range b.children {
		if err := s.visit(child, e); err != nil {
			return err
		}
	}
	return nil
}

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
		isNull := (int32(valid[bit/8]>>(bit%8))&1 - 1) &^ (at >> 31) // all ones, or zeros: a branch would often go the wrong way
		e.at[i] = at&^isNull | null&isNull
		nulls -= isNull
	}
	e.absent += int(nulls)
	return e
}

// items returns the entries of the items of lists or maps. An empty list is an entry that is absent at the list's level.
func (s *shredder) items(b *bound, e entries) entries {
	own := &s.scratch[b.node]
	items, reps := own.items[:0], own.rep[:0]
	empty, inside := absentAt(b.def), uint8(b.column.rep)
	absent := 0
	for i, list := range e.at {
		rep := uint8(0)
		if e.rep != nil {
			rep = e.rep[i]
		}
		start, end := int32(0), int32(0)
		if list >= 0 {
			start, end = b.offsets[list], b.offsets[list+1]
			list = empty
		}
		if start == end {
			items, reps = append(items, list), append(reps, rep)
			absent++
			continue
		}
		items, reps = append(items, start), append(reps, rep)
		for item := start + 1; item < end; item++ {
			items, reps = append(items, item), append(reps, inside)
		}
	}
	own.items, own.rep = items, reps
	return entries{at: items, rep: reps, absent: absent, rows: e.rows}
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
