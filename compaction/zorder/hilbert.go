package zorder

// hilbert is how far along a Hilbert curve a point lies, whose coordinates have so many bits each: Skilling, "Programming the
// Hilbert curve" (2004). Points that follow each other on the curve differ by one in one coordinate. It overwrites the
// coordinates.
func hilbert(x []uint32, bits int) uint64 {
	last := len(x) - 1
	for bit := bits - 1; bit > 0; bit-- { // undo the turns of the squares around
		low := uint32(1)<<bit - 1
		for i := range x {
			set := -(x[i] >> bit & 1) // all ones, or zeros: a branch would often go the wrong way
			swap := (x[0] ^ x[i]) & low &^ set
			x[0] ^= swap | low&set
			x[i] ^= swap
		}
	}
	for i := 1; i <= last; i++ { // Gray code
		x[i] ^= x[i-1]
	}
	flip := uint32(0)
	for bit := bits - 1; bit > 0; bit-- {
		flip ^= (uint32(1)<<bit - 1) & -(x[last] >> bit & 1)
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

// key is the place of a row with such ranks, which it overwrites.
func (c *curve) key(ranks []uint32) uint64 {
	for i := range ranks {
		ranks[i] >>= rangeBits - c.bits
	}
	return hilbert(ranks, c.bits)
}

// keys are the places of so many rows.
func (c *curve) keys(fields []field, rows int) []uint64 {
	ranks := make([][]uint32, len(fields))
	for i := range fields {
		ranks[i] = c.bounds[i].ranks(&fields[i], rows)
	}
	keys, x := make([]uint64, rows), make([]uint32, len(fields))
	for row := range keys {
		for i := range x {
			x[i] = ranks[i][row]
		}
		keys[row] = c.key(x)
	}
	return keys
}
