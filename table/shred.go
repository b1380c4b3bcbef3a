package table

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
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

// shred appends the values of row i, with their levels, to the leaves.
func (b *bound) shred(leaves [][]parquet.Value, i int) error {
	return b.put(leaves, i, i, 0)
}

// put appends the value at index i of this column's array; row is for messages, rep the level at which it starts.
func (b *bound) put(leaves [][]parquet.Value, row, i, rep int) error {
	if b.null(i) {
		if !b.nullable {
			return &NotNullError{Column: b.path, Row: row}
		}
		b.absent(leaves, rep, b.nullDef)
		return nil
	}
	switch {
	case b.get != nil:
		leaf := b.firstLeaf
		leaves[leaf] = append(leaves[leaf], b.get(i).Level(rep, b.def, leaf))
	case b.offsets != nil:
		return b.putItems(leaves, row, i, rep)
	default:
		for _, child := range b.children {
			if err := child.put(leaves, row, i, rep); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bound) putItems(leaves [][]parquet.Value, row, i, rep int) error {
	start, end := b.offsets(i)
	if start == end {
		b.absent(leaves, rep, b.def)
		return nil
	}
	for at := start; at < end; at++ {
		for _, child := range b.children {
			if err := child.put(leaves, row, int(at), rep); err != nil {
				return err
			}
		}
		rep = b.rep
	}
	return nil
}

// absent gives each leaf below a null of the given definition level.
func (b *bound) absent(leaves [][]parquet.Value, rep, def int) {
	for leaf := b.firstLeaf; leaf < b.endLeaf; leaf++ {
		leaves[leaf] = append(leaves[leaf], parquet.Value{}.Level(rep, def, leaf))
	}
}
