package parquetfile

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Cursor walks over the values of one leaf in one row group. A value, and the bytes that it refers to, stay as they are until the next
// Peek: pages go back to parquet-go's pool.
type Cursor struct {
	file        *File
	group, leaf int

	pages  parquet.Pages
	held   parquet.Page        // whose values are in the buffer; nil before the first
	values parquet.ValueReader // of the page; nil before the first and after the last of its values
	buffer []parquet.Value
	at, n  int
	ended  bool
}

const cursorValues = 1024

// Cursor begins before the first value of the leaf of an index, in a row group. It reads nothing.
func (f *File) Cursor(group, leaf int) *Cursor {
	return &Cursor{file: f, group: group, leaf: leaf, buffer: make([]parquet.Value, cursorValues)}
}

// Peek makes sure that there is a value at the front; false at the end of the row group.
func (c *Cursor) Peek() (bool, error) {
	for c.at == c.n && !c.ended {
		if err := c.fill(); err != nil {
			return false, err
		}
	}
	return c.at < c.n, nil
}

// SkipPages passes over whole pages at the front for as long as skip says so, and returns how many rows begin in them. The last of
// them may go on in the page behind.
func (c *Cursor) SkipPages(skip func(page parquet.Page) bool) (rows int64, err error) {
	for c.at == c.n && c.values == nil {
		page, err := c.page()
		if page == nil || err != nil {
			return rows, err
		}
		if !skip(page) {
			c.held, c.values = page, page.Values()
			return rows, nil
		}
		rows += page.NumRows()
		parquet.Release(page)
	}
	return rows, nil
}

// page is the next one, nil at the end of the row group. The one before is let go of.
func (c *Cursor) page() (parquet.Page, error) {
	c.release()
	if c.pages == nil {
		pages, err := c.file.Pages(c.group, c.leaf)
		if err != nil {
			return nil, err
		}
		c.pages = pages
	}
	page, err := c.pages.ReadPage()
	if errors.Is(err, io.EOF) {
		c.ended = true
		return nil, nil
	}
	return page, err
}

func (c *Cursor) fill() error {
	if c.values == nil {
		page, err := c.page()
		if page == nil || err != nil {
			return err
		}
		c.held, c.values = page, page.Values()
	}
	n, err := c.values.ReadValues(c.buffer)
	c.at, c.n = 0, n
	if errors.Is(err, io.EOF) {
		c.values, err = nil, nil
	}
	return err
}

// Drain takes all values that are left.
func (c *Cursor) Drain() error {
	for {
		if more, err := c.Peek(); !more || err != nil {
			return err
		}
		c.at = c.n
	}
}

// Front is the value at the front; Peek must have said that there is one.
func (c *Cursor) Front() *parquet.Value { return &c.buffer[c.at] }

// Next takes the value at the front; Peek must have said that there is one.
func (c *Cursor) Next() parquet.Value {
	v := c.buffer[c.at]
	c.at++
	return v
}

func (c *Cursor) release() {
	if c.held != nil {
		parquet.Release(c.held)
		c.held = nil
	}
}

// Close lets go of the pages, and of all values.
func (c *Cursor) Close() error {
	c.release()
	if c.pages == nil {
		return nil
	}
	return c.pages.Close()
}
