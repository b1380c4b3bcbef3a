package table

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

// copiedBytes is how large a compressed page must be to be copied as it is. Smaller ones become larger ones together: pages
// of few rows cost every reader.
const copiedBytes = 32 << 10

// join appends the rows of another file that have not been deleted, page by page and without taking rows apart: pages that are
// large enough and as they would be here are copied, small ones of numbers are joined as they are compressed, and the values
// of others, and of those with deleted rows, go into pages of this file. Only columns whose pages cannot be taken over are read by rows. A row group of
// the file takes memory for one of its column chunks at a time.
func (e *encoder) join(ctx context.Context, s *sourceFile, deleted deletionVector) (err error) {
	defer parquetfile.Recover(&err)
	from := int64(0)
	for group := range s.groups() {
		if s.groupRows(group) > s.rows()-from {
			return fmt.Errorf("its row groups have more than its %d rows: %w", s.rows(), errDamaged)
		}
		end := from + s.groupRows(group)
		rows := sourceRows{from: from, at: from, end: end, deleted: deleted}
		if err := e.joinPages(s, group, rows); err != nil {
			return fmt.Errorf("row group %d: %w", group, err)
		}
		if err := e.joinRows(ctx, s, group, rows); err != nil {
			return err
		}
		if err := e.joinAbsent(s.absent, rows); err != nil {
			return err
		}
		e.groupRows += end - from - deleted.count(from, end)
		from = end
		if e.measure(); e.held >= e.layout.groupBytes {
			if err := e.endGroup(); err != nil {
				return err
			}
		}
	}
	if from < s.rows() {
		return fmt.Errorf("its row groups lack %d rows: %w", s.rows()-from, errDamaged)
	}
	return nil
}

// sourceRows are the rows of a row group, counted in their file, while its pages are gone through.
type sourceRows struct {
	from, end int64
	at        int64 // the next one
	deleted   deletionVector
}

// joinPages appends the columns of a row group whose pages are taken over.
func (e *encoder) joinPages(s *sourceFile, group int, rows sourceRows) error {
	e.agreement.begin()
	for i, k := range e.chunks {
		if s.leaves[i] == noPages {
			continue
		}
		c, err := s.chunk(group, i, k.leaf, &e.pages)
		if err != nil {
			return err
		}
		if err := e.joinChunk(i, c, rows); err != nil {
			return fmt.Errorf("column %v: %w", k.leaf.path, err)
		}
	}
	return e.agreement.check()
}

// joinChunk appends a column chunk of some rows.
func (e *encoder) joinChunk(at int, c *sourceChunk, rows sourceRows) error {
	k := e.chunks[at]
	err := c.each(func(p *sourcePage) error {
		if k.leaf.maxRep > 0 {
			return e.joinDecoded(at, c, p, &rows)
		}
		end := rows.at + int64(p.levels())
		if end > rows.end {
			return errDamaged
		}
		switch rows.deleted.count(rows.at, end) {
		case end - rows.at:
			rows.at = end
			return nil
		case 0:
			if whole, err := e.joinWhole(at, c, p); whole || err != nil {
				rows.at = end
				return err
			}
		}
		return e.joinDecoded(at, c, p, &rows)
	})
	if err == nil && rows.at < rows.end {
		return fmt.Errorf("its pages lack %d rows: %w", rows.end-rows.at, errDamaged)
	}
	return err
}

// joinWhole appends a page as it is compressed, if it may.
func (e *encoder) joinWhole(at int, c *sourceChunk, p *sourcePage) (bool, error) {
	if p.header.Type != format.DataPage {
		return false, nil
	}
	k := e.chunks[at]
	if err := e.endFullPage(k); err != nil {
		return false, err
	}
	if copied, err := k.copies(c, p); copied || err != nil {
		e.countAbsent(at, int(p.data.Statistics.NullCount))
		return copied, err
	}
	l, joined, err := k.joins(c, p)
	if !joined || err != nil {
		return joined, err
	}
	e.countAbsent(at, l.absent)
	return true, e.endFullPage(k)
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

func (v *decimals) direct() format.Encoding { return format.Plain }

func (v *decimals) cover(low, high []byte) bool {
	if len(low) != v.width || len(high) != v.width {
		return false
	}
	v.ofPage.take(storedDecimal(low))
	v.ofPage.take(storedDecimal(high))
	return true
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

// joinDecoded appends the entries of a page, some rows at a time, but for those of deleted rows.
func (e *encoder) joinDecoded(at int, c *sourceChunk, p *sourcePage, rows *sourceRows) error {
	page, err := c.decode(p)
	if err != nil {
		return err
	}
	e.agreement.take(at, &page.levelled)
	k := e.chunks[at]
	if err := k.endJoinedPage(); err != nil {
		return err
	}
	if part, _ := page.take(0, k.leaf.maxDef); part.levels > 0 { // the page begins inside a row
		if rows.at == rows.from {
			return errDamaged
		}
		e.joinEntries(at, page.values, part, 0, rows.deleted.has(rows.at-1))
	}
	for page.levels > 0 {
		if rows.at == rows.end {
			return errDamaged
		}
		if err := e.endFullPage(k); err != nil {
			return err
		}
		n := rows.deleted.run(rows.at, min(rows.end-rows.at, sliceRows))
		part, taken := page.take(int(n), k.leaf.maxDef)
		e.joinEntries(at, page.values, part, taken, rows.deleted.has(rows.at))
		rows.at += int64(taken)
	}
	return nil
}

// joinEntries appends entries with which so many rows begin, unless they have been deleted.
func (e *encoder) joinEntries(at int, values arrow.Array, part pageEntries, rows int, deleted bool) {
	if deleted {
		return
	}
	k := e.chunks[at]
	e.countAbsent(at, e.layout.absentIn(at, &part.levelled))
	k.addLevels(part.levelled, rows)
	if len(part.at) > 0 {
		k.values.add(values, part.at)
	}
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

// absentIn counts the rows of a leaf's entries in which the column that is counted by it is null: each is one entry, below the column's own level.
func (l *layout) absentIn(at int, p *levelled) int {
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

// take takes the entries of the next rows off the page, at most so many, and returns how many begin with them. The page may begin with
// entries of a row that has begun before: no rows are those.
func (p *decodedPage) take(most, maxDef int) (part pageEntries, rows int) {
	end, rows := endOfRows(p.rep, 0, p.levels, most)
	part.levels = end
	if p.rep != nil {
		part.rep, p.rep = p.rep[:end], p.rep[end:]
	}
	if p.absent > 0 {
		part.def, p.def = p.def[:end], p.def[end:]
		part.absent = below(part.def, maxDef)
	}
	p.levels, p.absent = p.levels-end, p.absent-part.absent
	part.at, p.at = p.at[:end-part.absent], p.at[end-part.absent:]
	return part, rows
}
