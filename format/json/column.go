package json

import (
	"encoding/binary"
	"math/bits"

	"github.com/sluicedata/sluice/schema"
)

// column holds values in Arrow's memory layout: a validity bitmap with the lowest bit first, 32-bit offsets, values in
// little endian. The columns inside a struct have its length; those inside an array or a map have offsets[n].
type column struct {
	typ      *schema.Type
	nullable bool
	n        int

	valid   []byte  // up to the last null; the bits behind it, also in the last byte, count as set, so that a value costs nothing here
	data    []byte  // values of fixed width, bits of booleans, bytes of strings
	offsets []int32 // of strings, binaries, arrays, maps; n+1 of them
	kids    []*column

	width int         // bytes of a value in data; 0 where there is no fixed one
	dict  *dictionary // the texts that data has the numbers of; nil unless the column is coded

	validPool, dataPool, offsetPool pool
}

func newColumn(t *schema.Type, nullable bool) *column {
	c := &column{typ: t, nullable: nullable, width: width(t.Kind)}
	switch t.Kind {
	case schema.Array:
		c.kids = []*column{newColumn(t.Elem, t.ContainsNull)}
	case schema.Map:
		c.kids = []*column{newColumn(t.Key, false), newColumn(t.Elem, t.ContainsNull)}
	case schema.Struct:
		for i := range t.Fields {
			c.kids = append(c.kids, newColumn(t.Fields[i].Type, t.Fields[i].Nullable))
		}
	}
	if c.hasOffsets() {
		c.offsets = append(c.offsets, 0)
	}
	return c
}

func width(k schema.Kind) int {
	switch k {
	case schema.Byte:
		return 1
	case schema.Short:
		return 2
	case schema.Integer, schema.Float, schema.Date:
		return 4
	case schema.Long, schema.Double, schema.Timestamp, schema.TimestampNTZ:
		return 8
	case schema.Decimal:
		return 16
	default:
		return 0
	}
}

func (c *column) hasOffsets() bool {
	if c.dict != nil {
		return false
	}
	switch c.typ.Kind {
	case schema.String, schema.Binary, schema.Array, schema.Map:
		return true
	default:
		return false
	}
}

// bytes is what the column's values take, with those of the columns inside.
func (c *column) bytes() int64 {
	n := int64((c.n+7)/8 + len(c.data) + 4*len(c.offsets))
	if c.dict != nil {
		n += c.dict.bytes()
	}
	for _, kid := range c.kids {
		n += kid.bytes()
	}
	return n
}

// growValid makes the bitmap reach n values.
func (c *column) growValid(n int) {
	for len(c.valid)*8 < n {
		c.valid = append(c.valid, 0xFF)
	}
}

// appendNull appends a null, and to the columns inside a struct as well, since they keep its length.
func (c *column) appendNull() {
	switch {
	case c.width > 0:
		c.appendZero()
	case c.hasOffsets():
		c.offsets = append(c.offsets, c.offsets[len(c.offsets)-1])
	case c.typ.Kind == schema.Boolean:
		c.growBits()
	default:
		for _, kid := range c.kids {
			kid.appendNull()
		}
	}
	if len(c.valid)*8 <= c.n {
		c.growValid(c.n + 1)
	}
	c.valid[c.n>>3] &^= 1 << (c.n & 7)
	c.n++
}

// appendZero appends what stands for a null to the data of a column of fixed width.
func (c *column) appendZero() {
	switch c.width {
	case 8:
		c.data = append(c.data, 0, 0, 0, 0, 0, 0, 0, 0)
	case 4:
		c.data = append(c.data, 0, 0, 0, 0)
	default:
		var zero [16]byte
		c.data = append(c.data, zero[:c.width]...)
	}
}

func (c *column) growBits() {
	if c.n&7 == 0 {
		c.data = append(c.data, 0)
	}
}

func (c *column) appendBool(v bool) {
	c.growBits()
	if v {
		c.data[len(c.data)-1] |= 1 << (c.n & 7)
	}
	c.n++
}

// append64 appends a value of eight bytes.
func (c *column) append64(v uint64) {
	c.data = append(c.data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
	c.n++
}

// append32 appends a value of four bytes.
func (c *column) append32(v uint32) {
	c.data = append(c.data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	c.n++
}

// appendBits appends a value of at most eight bytes from the low bits of v.
func (c *column) appendBits(v uint64) {
	switch c.width {
	case 8:
		c.append64(v)
		return
	case 4:
		c.append32(uint32(v))
		return
	case 2:
		c.data = binary.LittleEndian.AppendUint16(c.data, uint16(v))
	case 1:
		c.data = append(c.data, byte(v))
	}
	c.n++
}

func (c *column) append128(hi int64, lo uint64) {
	c.data = binary.LittleEndian.AppendUint64(c.data, lo)
	c.data = binary.LittleEndian.AppendUint64(c.data, uint64(hi))
	c.n++
}

func (c *column) appendBytes(v []byte) {
	c.data = append(c.data, v...)
	c.closeBytes()
}

func (c *column) appendString(v string) {
	c.data = append(c.data, v...)
	c.closeBytes()
}

// closeBytes ends a string or binary whose bytes have been put behind data.
func (c *column) closeBytes() {
	c.offsets = append(c.offsets, int32(len(c.data)))
	c.n++
}

// closeList ends an array or a map whose elements have been appended to the columns inside.
func (c *column) closeList() {
	c.offsets = append(c.offsets, int32(c.kids[0].n))
	c.n++
}

// at returns the bytes of the value with index i, for columns of strings, binaries and fixed width.
func (c *column) at(i int) []byte {
	if c.width > 0 {
		return c.data[i*c.width : (i+1)*c.width]
	}
	return c.data[c.offsets[i]:c.offsets[i+1]]
}

// truncate cuts the column and all inside it back to n values. What is cut may be half written.
func (c *column) truncate(n int) {
	c.n = min(c.n, n)
	c.truncateValid(n)
	switch {
	case c.width > 0:
		c.data = c.data[:min(len(c.data), n*c.width)]
	case c.typ.Kind == schema.Boolean:
		c.data = cutBits(c.data, n)
	case c.hasOffsets():
		c.offsets = c.offsets[:min(len(c.offsets), n+1)]
		c.truncateBehind(int(c.offsets[len(c.offsets)-1]))
	default:
		for _, kid := range c.kids {
			kid.truncate(n)
		}
	}
}

func (c *column) truncateValid(n int) {
	if len(c.valid)*8 <= n {
		return
	}
	c.valid = c.valid[:(n+7)/8]
	if n&7 != 0 {
		c.valid[len(c.valid)-1] |= 0xFF << (n & 7)
	}
}

func (c *column) truncateBehind(end int) {
	if len(c.kids) == 0 {
		c.data = c.data[:end]
		return
	}
	for _, kid := range c.kids {
		kid.truncate(end)
	}
}

// cutBits leaves n bits, and zeroes behind them in the last byte, since bits are set with or.
func cutBits(b []byte, n int) []byte {
	if len(b)*8 <= n {
		return b
	}
	b = b[:(n+7)/8]
	if n&7 != 0 {
		b[len(b)-1] &= 1<<(n&7) - 1
	}
	return b
}

// nulls counts the nulls of the column.
func (c *column) nulls() int {
	nulls := 0
	b := c.valid
	for ; len(b) >= 8; b = b[8:] {
		nulls += bits.OnesCount64(^binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		nulls += bits.OnesCount8(^x)
	}
	return nulls
}
