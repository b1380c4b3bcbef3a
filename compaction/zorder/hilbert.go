package zorder

// hilbert is how far along a Hilbert curve a point lies, whose coordinates have so many bits each: Skilling, "Programming the
// Hilbert curve" (2004). Points that follow each other on the curve differ by one in one coordinate. It overwrites the
// coordinates.
func hilbert(x []uint32, bits int) uint64 {
	last := len(x) - 1
	for q := uint32(1) << (bits - 1); q > 1; q >>= 1 { // undo the turns of the squares around
		low := q - 1
		for i := range x {
			if x[i]&q != 0 {
				x[0] ^= low
			} else {
				swap := (x[0] ^ x[i]) & low
				x[0] ^= swap
				x[i] ^= swap
			}
		}
	}
	for i := 1; i <= last; i++ { // Gray code
		x[i] ^= x[i-1]
	}
	flip := uint32(0)
	for q := uint32(1) << (bits - 1); q > 1; q >>= 1 {
		if x[last]&q != 0 {
			flip ^= q - 1
		}
	}
	for i := range x {
		x[i] ^= flip
	}
	return interleave(x, bits)
}

// interleave puts the bits of coordinates one beside the other, the highest first.
func interleave(x []uint32, bits int) uint64 {
	key := uint64(0)
	for bit := bits - 1; bit >= 0; bit-- {
		for _, c := range x {
			key = key<<1 | uint64(c>>bit&1)
		}
	}
	return key
}

// curve tells the places of rows.
type curve struct {
	bounds []bounds // by column
	bits   int      // of a coordinate
}

// newCurve goes through ranges of columns; of many columns it takes less of each, since a key has 64 bits.
func newCurve(bounds []bounds) *curve {
	return &curve{bounds: bounds, bits: min(rangeBits, 64/len(bounds))}
}

// key is a row's place. The coordinates and the bytes are scratch.
func (c *curve) key(fields []field, row int, x []uint32, b []byte) (uint64, []byte) {
	for i := range fields {
		b = fields[i].appendOrdered(b[:0], row)
		x[i] = c.bounds[i].rank(b) >> (rangeBits - c.bits)
	}
	return hilbert(x, c.bits), b
}
