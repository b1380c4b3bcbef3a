package zorder

import (
	"errors"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// column are values of one column, one behind the other, in the buffers that an Arrow array has. Values of other columns of
// its shape are put behind them. All columns of a row together are one of structs.
type column struct {
	*shape
	n        int
	valid    []byte // a bit for each value: whether it is there; empty: all are
	fixed    []byte // numbers; bits; where texts and lists begin, and behind it where the last one ends
	texts    []byte
	numbered bool // texts are in the dictionary: fixed are their numbers there, of four bytes
	children []*column
}

func newColumn(s *shape) *column {
	c := &column{shape: s}
	for _, child := range s.children {
		c.children = append(c.children, newColumn(child))
	}
	return c
}

// pick is a value of one of several columns.
type pick struct{ of, at uint32 }

// sources are columns of one shape that values are picked of.
type sources struct {
	columns  []*column
	valid    [][]byte // of each
	fixed    [][]byte
	nulls    bool // some value may not be there
	numbered bool // all texts are in the dictionary
	children []*sources
	items    []pick // scratch, of lists
}

func newSources(columns []*column) *sources {
	s := &sources{columns: columns, numbered: true}
	for _, c := range columns {
		s.valid, s.fixed = append(s.valid, c.valid), append(s.fixed, c.fixed)
		s.nulls = s.nulls || len(c.valid) > 0
		s.numbered = s.numbered && (c.numbered || c.n == 0)
	}
	for i := range columns[0].children {
		below := make([]*column, len(columns))
		for k, c := range columns {
			below[k] = c.children[i]
		}
		s.children = append(s.children, newSources(below))
	}
	return s
}

// gather appends the values that are picked.
func (c *column) gather(s *sources, picks []pick) error {
	if len(picks) == 0 {
		return nil
	}
	if s.nulls && len(c.valid) == 0 {
		c.valid = appendOnes(c.valid, 0, c.n)
	}
	if s.nulls || len(c.valid) > 0 {
		c.valid = gatherBits(c.valid, c.n, s.valid, picks)
	}
	err := c.gatherValues(s, picks)
	c.n += len(picks)
	return err
}

func (c *column) gatherValues(s *sources, picks []pick) error {
	switch c.form {
	case booleans:
		c.fixed = gatherBits(c.fixed, c.n, s.fixed, picks)
	case numbers:
		c.fixed = c.gatherNumbers(c.fixed, s.fixed, picks)
	case texts:
		return c.gatherTexts(s, picks)
	case lists:
		return c.gatherLists(s, picks)
	case structs:
		for i, child := range c.children {
			if err := child.gather(s.children[i], picks); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherBits puts bits behind n others. Sources without any have ones.
func gatherBits(b []byte, n int, from [][]byte, picks []pick) []byte {
	b = append(b, make([]byte, (n+len(picks)+7)/8-len(b))...)
	for _, p := range picks {
		bit := byte(1)
		if bits := from[p.of]; len(bits) > 0 {
			bit = bits[p.at/8] >> (p.at % 8) & 1
		}
		b[n/8] |= bit << (n % 8)
		n++
	}
	return b
}

// appendOnes puts so many ones behind n bits.
func appendOnes(b []byte, n, ones int) []byte {
	b = append(b, make([]byte, (n+ones+7)/8-len(b))...)
	bitutil.SetBitsTo(b, int64(n), int64(ones), true)
	return b
}

func (s *shape) gatherNumbers(b []byte, from [][]byte, picks []pick) []byte {
	switch s.width {
	case 1:
		return gatherNumbers[uint8](b, from, picks)
	case 2:
		return gatherNumbers[uint16](b, from, picks)
	case 4:
		return gatherNumbers[uint32](b, from, picks)
	case 8:
		return gatherNumbers[uint64](b, from, picks)
	default:
		return gatherNumbers[[2]uint64](b, from, picks)
	}
}

func gatherNumbers[T any](b []byte, from [][]byte, picks []pick) []byte {
	var one T
	before, more := len(b), len(picks)*int(unsafe.Sizeof(one))
	b = slices.Grow(b, more)[:before+more]
	to := cast[T](b[before:])
	for i, p := range picks {
		to[i] = cast[T](from[p.of])[p.at]
	}
	return b
}

// cast are bytes as the numbers that they are.
func cast[T any](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// bytesOf are numbers as bytes.
func bytesOf[T any](numbers []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(one)))
}

var errLong = errors.New("some thousands of rows have more than 2 GiB of texts, or 2,147,483,647 items, in one column")

func (c *column) gatherTexts(s *sources, picks []pick) error {
	if s.numbered && (c.numbered || c.n == 0) {
		c.numbered = true
		c.fixed = gatherNumbers[int32](c.fixed, s.fixed, picks)
		return nil
	}
	if err := c.unnumber(); err != nil {
		return err
	}
	return c.appendTexts(len(picks), func(i int) []byte { return s.columns[picks[i].of].text(int(picks[i].at)) })
}

// appendTexts appends n texts to those that are not in the dictionary.
func (c *column) appendTexts(n int, text func(i int) []byte) error {
	ends, bytes := c.ends(n), c.texts
	for i := range ends {
		if bytes = append(bytes, text(i)...); len(bytes) > math.MaxInt32 {
			return errLong
		}
		ends[i] = int32(len(bytes))
	}
	c.texts = bytes
	return nil
}

// ends is room for where n more texts or lists end.
func (c *column) ends(n int) []int32 {
	if len(c.fixed) == 0 {
		c.fixed = append(c.fixed, 0, 0, 0, 0)
	}
	before := len(c.fixed)
	c.fixed = slices.Grow(c.fixed, 4*n)[:before+4*n]
	return cast[int32](c.fixed[before:])
}

// text is a text, wherever it is.
func (c *column) text(at int) []byte {
	if c.numbered {
		return c.dictionary.text(cast[int32](c.fixed)[at])
	}
	starts := cast[int32](c.fixed)
	return c.texts[starts[at]:starts[at+1]]
}

// unnumber takes the texts out of the dictionary.
func (c *column) unnumber() error {
	if !c.numbered {
		return nil
	}
	numbers := cast[int32](c.fixed)
	c.fixed, c.numbered = nil, false
	return c.appendTexts(len(numbers), func(i int) []byte { return c.dictionary.text(numbers[i]) })
}

func (c *column) gatherLists(s *sources, picks []pick) error {
	items, ends, before := s.items[:0], c.ends(len(picks)), c.children[0].n
	for i, p := range picks {
		starts := cast[int32](s.fixed[p.of])
		for at := starts[p.at]; at < starts[p.at+1]; at++ {
			items = append(items, pick{p.of, uint32(at)})
		}
		if len(items) > math.MaxInt32-before {
			return errLong
		}
		ends[i] = int32(before + len(items))
	}
	s.items = items
	return c.children[0].gather(s.children[0], items)
}

// keys are those of rows.
func (c *column) keys() []uint64 { return cast[uint64](c.children[0].fixed) }

// reset forgets the values, and keeps their memory for others.
func (c *column) reset() {
	c.n, c.numbered = 0, false
	c.valid, c.fixed, c.texts = c.valid[:0], c.fixed[:0], c.texts[:0]
	for _, child := range c.children {
		child.reset()
	}
}

// bytes is what the values take.
func (c *column) bytes() int64 {
	n := int64(len(c.valid) + len(c.fixed) + len(c.texts))
	for _, child := range c.children {
		n += child.bytes()
	}
	return n
}

// memory is what the column takes with room for others.
func (c *column) memory() int64 {
	n := int64(cap(c.valid) + cap(c.fixed) + cap(c.texts))
	for _, child := range c.children {
		n += child.memory()
	}
	return n
}
