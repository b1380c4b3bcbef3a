package kafka

import (
	"encoding/binary"
	"math"
)

// cursor reads the numbers and bytes of records. Where they end too early, or a number is too long, it becomes bad and gives
// zeros.
type cursor struct {
	b   []byte
	at  int
	bad bool
}

// varint reads a signed number of up to 32 bits.
func (c *cursor) varint() int64 {
	if b := c.rest(); len(b) > 1 {
		first, second := uint64(b[0]), uint64(b[1])
		if first < 0x80 {
			c.at++
			return zigzag(first)
		}
		if second < 0x80 {
			c.at += 2
			return zigzag(first&0x7f | second<<7)
		}
	}
	return c.long(32)
}

// varlong reads a signed number of up to 64 bits.
func (c *cursor) varlong() int64 {
	if b := c.rest(); len(b) > 0 && b[0] < 0x80 {
		c.at++
		return zigzag(uint64(b[0]))
	}
	return c.long(64)
}

// long reads a number of so many bits.
func (c *cursor) long(bits uint) int64 {
	v, n := binary.Uvarint(c.rest())
	if n <= 0 || n > int(bits+6)/7 || bits == 32 && v > math.MaxUint32 {
		c.bad = true
		return 0
	}
	c.at += n
	return zigzag(v)
}

// zigzag takes numbers apart that are signed in their lowest bit.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (c *cursor) rest() []byte {
	if c.at > len(c.b) {
		return nil
	}
	return c.b[c.at:]
}

// bytes reads a length and as many bytes, nil for a negative one. Their capacity reaches to the end of what is read.
func (c *cursor) bytes() []byte {
	n := c.varint()
	if n < 0 {
		return nil
	}
	if n > int64(len(c.b)-c.at) {
		c.bad = true
		return nil
	}
	from := c.at
	c.at += int(n)
	return c.b[from:c.at]
}
