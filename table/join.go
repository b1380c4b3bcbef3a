package table

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

// copiedBytes is how large a compressed page must be to be copied as it is. Smaller ones become larger ones together: pages
// of few rows cost every reader.
const copiedBytes = 32 << 10

// join appends the rows of another file, page by page, without taking rows apart: pages that are large enough and as they
// would be here are copied, small ones of numbers are joined as they are compressed, the others' values go into pages of this file. A row group of the file takes memory for one of
// its column chunks at a time.
func (e *encoder) join(s *sourceFile) (err error) {
	defer parquetfile.Recover(&err)
	for group := range s.groups() {
		for i, k := range e.chunks {
			c, err := s.chunk(group, i, k.leaf, &e.pages)
			if err != nil {
				return err
			}
			if err := e.joinChunk(i, c, s.groupRows(group)); err != nil {
				return fmt.Errorf("row group %d, column %v: %w", group, k.leaf.path, err)
			}
		}
		e.groupRows += s.groupRows(group)
		if e.measure(); e.held >= e.layout.groupBytes {
			if err := e.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinChunk appends a column chunk that has so many rows.
func (e *encoder) joinChunk(at int, c *sourceChunk, rows int64) error {
	k := e.chunks[at]
	err := c.each(func(p *sourcePage) error {
		if copied, err := k.copies(c, p); copied || err != nil {
			rows -= int64(p.levels())
			e.countAbsent(at, int(p.data.Statistics.NullCount))
			return err
		}
		if l, joined, err := k.joins(c, p); joined || err != nil {
			rows -= int64(l.levels)
			e.countAbsent(at, l.absent)
			return errors.Join(err, e.endFullPage(k))
		}
		page, err := c.decode(p)
		if err != nil {
			return err
		}
		rows -= int64(page.rows())
		return e.joinPage(at, page)
	})
	if err == nil && rows != 0 {
		return fmt.Errorf("its pages lack %d rows: %w", rows, errDamaged)
	}
	return err
}

// copyable are values whose pages may be copied from another file.
type copyable interface {
	// direct is the encoding of pages that are in no dictionary.
	direct() format.Encoding
	// cover widens the page's bounds to the limits of another; false, and nothing is done, if they are none.
	cover(low, high []byte) bool
}

// copies copies a page as it is, if it may. It may not where the values themselves are wanted, for a Bloom filter.
func (k *chunk) copies(c *sourceChunk, p *sourcePage) (bool, error) {
	v, ok := k.values.(copyable)
	if !ok || !c.own || k.filter != nil || len(p.body) < copiedBytes || k.leaf.maxRep > 0 || p.data.Encoding != v.direct() || !k.keeps(c.codec) {
		return false, nil
	}
	if err := k.endPage(); err != nil {
		return false, err
	}
	if !v.cover(p.data.Statistics.MinValue, p.data.Statistics.MaxValue) {
		return false, nil
	}
	return true, k.copyPage(c, p)
}

func (v *ints[T]) direct() format.Encoding {
	if v.pack != nil {
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

func (v *ints[T]) cover(low, high []byte) bool {
	if !v.tell(low, high) {
		return false
	}
	v.ofPage.merge(&intBounds{min: int64(v.low[0]), max: int64(v.top[0])})
	return true
}

func (v *floats[T]) direct() format.Encoding { return format.Plain }

func (v *floats[T]) cover(low, high []byte) bool {
	if !v.tell(low, high) {
		return false
	}
	v.ofPage.merge(&floatBounds{min: float64(v.low[0]), max: float64(v.top[0])})
	return v.ofPage.seen()
}

func (v *texts) direct() format.Encoding {
	if v.plain.compact {
		return format.DeltaLengthByteArray
	}
	return format.Plain
}

func (v *texts) cover(low, high []byte) bool {
	if len(high) == 0 {
		return false
	}
	v.ofPage.take(low)
	v.ofPage.take(high)
	return true
}

// joinPage appends the entries of a page, some rows at a time.
func (e *encoder) joinPage(at int, p *decodedPage) error {
	e.countAbsent(at, e.layout.absentIn(at, p))
	k, all := e.chunks[at], p.all
	if err := k.endJoinedPage(); err != nil {
		return err
	}
	for from := 0; from < p.levels; {
		part, rows := p.slice(from, k.leaf.maxDef)
		present := part.levels - part.absent
		k.addLevels(part, rows)
		if present > 0 {
			k.values.add(p.values, all[:present])
		}
		if err := e.endFullPage(k); err != nil {
			return err
		}
		from, all = from+part.levels, all[present:]
	}
	return nil
}

// counted returns, by leaf, the column whose nulls the file's statistics count, where the leaf is the first below it: leaves,
// lists and maps that are in no list.
func counted(columns []*column, leaves int) []*column {
	by := make([]*column, leaves)
	var visit func([]*column)
	visit = func(columns []*column) {
		for _, c := range columns {
			if c.typ.Kind == schema.Struct {
				visit(c.children)
				continue
			}
			by[c.firstLeaf] = c
		}
	}
	visit(columns)
	return by
}

// absentIn counts the rows of a leaf's page in which the column that is counted by it is null: each is one entry, below the column's own level.
func (l *layout) absentIn(at int, p *decodedPage) int {
	c := l.counted[at]
	if p.rep == nil || p.absent == 0 || c == nil {
		return p.absent
	}
	return below(p.def, c.def)
}

func (e *encoder) countAbsent(at, n int) {
	if c := e.layout.counted[at]; c != nil {
		e.shredder.nulls[c.node] += int64(n)
	}
}

// rows is how many the entries are of.
func (l *levelled) rows() int {
	if l.rep == nil {
		return l.levels
	}
	return rowsIn(l.rep)
}

// slice returns the entries of some rows that begin at an entry, and how many rows these are.
func (l *levelled) slice(from, maxDef int) (part levelled, rows int) {
	end, rows := endOfRows(l.rep, from, l.levels, sliceRows)
	if part = *l; end-from == l.levels {
		return part, rows
	}
	if part.levels = end - from; l.rep != nil {
		part.rep = l.rep[from:end]
	}
	if l.absent > 0 {
		part.def = l.def[from:end]
		part.absent = below(part.def, maxDef)
	}
	return part, rows
}
