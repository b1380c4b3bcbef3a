package table

import (
	"encoding/binary"
	"math"
)

// checkDeltas refuses bytes that are not n integers, one at least, of so many bits by their differences (Encodings.md, "Delta Encoding"): what is cut short
// or packed wider than an integer is read by parquet-go as whatever lies in memory, and what promises more values takes memory for them.
func checkDeltas(b []byte, n, bits int) error {
	d := deltas{rest: b}
	block, miniblocks, values := d.uvarint(), d.uvarint(), d.uvarint()
	d.uvarint() // the first value
	if d.bad || values != uint64(n) || block > math.MaxInt32 || miniblocks == 0 || block%miniblocks != 0 {
		return errDamaged
	}
	for left := values - 1; left > 0; {
		d.uvarint() // the least difference
		for _, width := range d.take(miniblocks) {
			if left == 0 {
				break // the widths of those that are not needed may be anything
			}
			if int(width) > bits || !d.miniblock(block/miniblocks, left, uint64(width)) {
				return errDamaged
			}
			left -= min(left, block/miniblocks)
		}
		if d.bad {
			return errDamaged
		}
	}
	return nil
}

// deltas reads off the front of bytes.
type deltas struct {
	rest []byte
	bad  bool
}

func (d *deltas) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.take(uint64(max(n, 0)))
	d.bad = d.bad || n <= 0
	return v
}

func (d *deltas) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad, n = true, 0
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// miniblock passes over a miniblock of some values, of which so many are left: the last one need not be filled up.
func (d *deltas) miniblock(values, left, width uint64) bool {
	if needed := (min(values, left)*width + 7) / 8; needed > uint64(len(d.rest)) {
		return false
	}
	d.rest = d.rest[min(values*width/8, uint64(len(d.rest))):]
	return true
}
