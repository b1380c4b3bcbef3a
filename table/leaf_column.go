package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/sluicedata/sluice/parquetfile"
)

// leafColumn reads one leaf of a row group, some rows at a time: their levels, and the values that are there. Not safe for
// concurrent use.
type leafColumn struct {
	name           string // dotted
	index          int    // among the file's leaves
	maxDef, maxRep uint8
	open           func() (parquet.Pages, error)
	read           readValues   // nil: it is read for its levels alone
	dictionaries   bool         // texts may stay in the file's dictionary
	turned         func() error // nil, or called with each page that has entries

	turns int // pages that have been turned to, with those that have no entries
	pages parquet.Pages
	page  leafPage
	dict  leafDictionary

	// Of the rows that have been taken.
	entries  int     // values, absent ones included
	def, rep []uint8 // by entry; nil where there are no such levels
	values   leafValues
}

// leafPage is the page that is being read.
type leafPage struct {
	page     parquet.Page // nil: none
	def, rep []byte
	data     encoding.Values
	ids      []int32 // of values in the dictionary; nil: the values are in data
	entries  int
	at       int // the next entry
	value    int // the next value that is there
}

// leafDictionary is the row group's dictionary, once a page has referred to it.
type leafDictionary struct {
	of     parquet.Dictionary
	values leafValues
	array  arrow.Array // the values, for as long as texts are kept in it
}

// take reads n rows.
func (c *leafColumn) take(n int) error { return c.pass(n, c.append) }

// skip passes n rows over.
func (c *leafColumn) skip(n int) error {
	return c.pass(n, func(end int) error {
		p := &c.page
		p.value += p.present(c.maxDef, end)
		p.at = end
		return nil
	})
}

// pass goes over n rows, and has do go over the entries of each page that are of them.
func (c *leafColumn) pass(n int, do func(end int) error) error {
	for left := n; ; {
		if c.page.at == c.page.entries {
			more, err := c.next(left < n)
			if err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
			if !more {
				if left > 0 {
					return fmt.Errorf("column %s ends before the others: %w", c.name, errDamaged)
				}
				return nil
			}
		}
		end, rows := endOfRows(c.page.rep, c.page.at, c.page.entries, left)
		if end > c.page.at {
			if err := do(end); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		left -= rows
		if left == 0 && (end < c.page.entries || c.maxRep == 0) {
			return nil
		}
	}
}

// present is how many of the entries up to an end have a value.
func (p *leafPage) present(maxDef uint8, end int) int {
	if p.def == nil {
		return end - p.at
	}
	return bytes.Count(p.def[p.at:end], []byte{maxDef})
}

// append takes the page's entries up to an end.
func (c *leafColumn) append(end int) error {
	p := &c.page
	n := p.present(c.maxDef, end)
	if c.maxDef > 0 {
		c.def = append(c.def, p.def[p.at:end]...)
	}
	if c.maxRep > 0 {
		c.rep = append(c.rep, p.rep[p.at:end]...)
	}
	c.entries += end - p.at
	from, to := p.value, p.value+n
	p.at, p.value = end, to
	switch {
	case c.read == nil || n == 0:
		return nil
	case p.ids != nil:
		return c.appendIndexed(p.ids[from:to])
	default:
		if err := c.unindex(); err != nil {
			return err
		}
		return c.read(&c.values, p.data, from, to)
	}
}

// appendIndexed appends values of the dictionary.
func (c *leafColumn) appendIndexed(ids []int32) error {
	if c.dict.array == nil {
		return c.values.pick(&c.dict.values, ids)
	}
	if c.values.n == 0 {
		c.values.indexed = c.dict.array
	}
	appendNumbers(&c.values, ids)
	return nil
}

// unindex takes the texts so far out of the dictionary, and keeps none in it from then on.
func (c *leafColumn) unindex() error {
	c.dict.array = nil
	if c.values.indexed == nil {
		return nil
	}
	ids := arrow.Int32Traits.CastFromBytes(c.values.fixed)
	c.values.begin(len(ids))
	return c.values.pick(&c.dict.values, ids)
}

// next turns to the next page that has entries; false at the end of the row group. inside says that rows of it have been read, which may go
// on there.
func (c *leafColumn) next(inside bool) (bool, error) {
	if c.pages == nil {
		var err error
		if c.pages, err = c.open(); err != nil {
			return false, err
		}
	}
	for {
		parquet.Release(c.page.page)
		c.page = leafPage{}
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		c.page.page = page
		c.turns++
		if page.NumValues() == 0 {
			continue
		}
		if err := c.turn(page, inside); err != nil || c.turned == nil {
			return true, err
		}
		return true, c.turned()
	}
}

// turn makes a page the one that is being read.
func (c *leafColumn) turn(page parquet.Page, inside bool) error {
	p := &c.page
	p.entries = int(page.NumValues())
	if c.maxDef > 0 {
		p.def = page.DefinitionLevels()
	}
	if c.maxRep > 0 {
		p.rep = page.RepetitionLevels()
	}
	if c.maxDef > 0 && (len(p.def) != p.entries || slices.Max(p.def) > c.maxDef) ||
		c.maxRep > 0 && (len(p.rep) != p.entries || slices.Max(p.rep) > c.maxRep || !inside && p.rep[0] != 0) {
		return errDamaged
	}
	if c.read == nil {
		return nil
	}
	p.data = page.Data()
	if page.Dictionary() == nil {
		return nil
	}
	n := p.present(c.maxDef, p.entries)
	p.ids = p.data.Int32()[:n]
	return c.refer(page.Dictionary(), p.ids)
}

// refer has the dictionary ready for values with such numbers. Texts stay in it if it is much shorter than the page.
func (c *leafColumn) refer(d parquet.Dictionary, ids []int32) error {
	if c.dict.of != d {
		if err := c.unindex(); err != nil {
			return err
		}
		c.dict = leafDictionary{of: d, values: newLeafValues(c.values.typ)}
		if err := c.read(&c.dict.values, d.Page().Data(), 0, d.Len()); err != nil {
			return err
		}
		if c.dictionaries && c.values.width == 0 && 2*d.Len() <= len(ids) {
			c.dict.array = array.MakeFromData(c.dict.values.array(d.Len(), nil))
		}
	}
	for _, id := range ids {
		if uint32(id) >= uint32(d.Len()) {
			return errDamaged
		}
	}
	return nil
}

// begin lets go of the rows that have been taken. About so many come.
func (c *leafColumn) begin(rows int) {
	c.entries, c.def, c.rep = 0, c.def[:0], c.rep[:0]
	c.values.begin(rows)
}

func (c *leafColumn) close() error {
	if c.pages == nil {
		return nil
	}
	parquet.Release(c.page.page)
	return c.pages.Close()
}

// newLeafColumn begins before the first row of a leaf in a row group. It reads nothing.
func newLeafColumn(file *parquetfile.File, group int, leaf *parquet.Column) *leafColumn {
	return &leafColumn{
		name: strings.Join(leaf.Path(), "."), index: leaf.Index(), maxDef: uint8(leaf.MaxDefinitionLevel()), maxRep: uint8(leaf.MaxRepetitionLevel()),
		open: func() (parquet.Pages, error) { return file.Pages(group, leaf.Index()) },
	}
}
