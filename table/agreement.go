package table

import "fmt"

// agreement holds the leaves of lists and maps that have several against each other while a row group is joined leaf by leaf: all of them have
// an item where one has. A file in which they do not is damaged, which no leaf shows by itself.
type agreement struct {
	columns []*column
	sums    [][]uint64 // by column and leaf, of the levels down to the column's items
}

// newAgreement returns that of the columns and those below them.
func newAgreement(columns []*column) *agreement {
	a := &agreement{}
	a.add(columns)
	return a
}

func (a *agreement) add(columns []*column) {
	for _, c := range columns {
		if c.rep > 0 && c.endLeaf-c.firstLeaf > 1 {
			a.columns = append(a.columns, c)
			a.sums = append(a.sums, make([]uint64, c.endLeaf-c.firstLeaf))
		}
		a.add(c.children)
	}
}

// begin is called before a row group.
func (a *agreement) begin() {
	for _, sums := range a.sums {
		clear(sums)
	}
}

// take takes the levels of a leaf's next entries.
func (a *agreement) take(leaf int, l *levelled) {
	for i, c := range a.columns {
		if leaf < c.firstLeaf || leaf >= c.endLeaf {
			continue
		}
		sum, item := &a.sums[i][leaf-c.firstLeaf], c.def+1
		for entry, rep := range l.rep {
			if int(rep) > c.rep { // it is of a list in the item
				continue
			}
			def := item
			if l.def != nil {
				def = min(def, int(l.def[entry]))
			}
			*sum = (*sum + uint64(def)<<8 + uint64(rep) + 1) * 0x9e3779b97f4a7c15
		}
	}
}

// check is called behind a row group.
func (a *agreement) check() error {
	for i, c := range a.columns {
		for _, sum := range a.sums[i] {
			if sum != a.sums[i][0] {
				return fmt.Errorf("column %s: its parts do not have the same items: %w", c.path, errDamaged)
			}
		}
	}
	return nil
}
