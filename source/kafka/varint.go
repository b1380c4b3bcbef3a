package kafka

import (
	"encoding/binary"
	"math"
)

// The parts of a record are read one behind another: each function reads one at b[at:], and returns it and where the next begins. Where b
// ends too early, or a number is too long, that is behind the end of b, and so is what comes next.

// varint reads a signed number of up to 32 bits.
func varint(b []byte, at int) (v int64, end int) { return number(b, at, 32) }

// varlong reads a signed number of up to 64 bits.
func varlong(b []byte, at int) (v int64, end int) { return number(b, at, 64) }

// field reads a length and as many bytes, nil for a negative one. Their capacity reaches to the end of b.
func field(b []byte, at int) (v []byte, end int) {
	n, at := varint(b, at)
	switch {
	case n < 0:
		return nil, at
	case n > int64(len(b)-at):
		return nil, len(b) + 1
	}
	end = at + int(n)
	return b[at:end], end
}

// number reads a signed number of up to so many bits. Nearly all have up to three bytes, and more bytes behind them.
func number(b []byte, at int, bits uint) (v int64, end int) {
	if at > len(b)-8 {
		return longNumber(b, at, bits)
	}
	w := binary.LittleEndian.Uint64(b[at:])
	switch {
	case w&0x80 == 0:
		return zigzag(w & 0x7f), at + 1
	case w&0x8000 == 0:
		return zigzag(w&0x7f | w>>1&(0x7f<<7)), at + 2
	case w&0x800000 == 0:
		return zigzag(w&0x7f | w>>1&(0x7f<<7) | w>>2&(0x7f<<14)), at + 3
	}
	return longNumber(b, at, bits)
}

// longNumber is number for all of them.
func longNumber(b []byte, at int, bits uint) (v int64, end int) {
	u, n := binary.Uvarint(b[min(at, len(b)):])
	if n <= 0 || n > int(bits+6)/7 || bits == 32 && u > math.MaxUint32 {
		return 0, len(b) + 1
	}
	return zigzag(u), at + n
}

// zigzag takes numbers apart that are signed in their lowest bit.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
