package parquetfile

import (
	"encoding/binary"
	"math"
)

// CheckDeltas refuses bytes that do not begin with n integers of so many bits by their differences (Encodings.md, "Delta Encoding"): what is cut short
// or packed wider than an integer is read by parquet-go as whatever lies in memory, and what promises more values takes memory for them.
func CheckDeltas(b []byte, n, bits int) error {
	if values, _, err := passDeltas(b, n, bits); err != nil || values != n {
		return ErrDamaged
	}
	return nil
}

// passDeltas passes over such integers, at most so many.
func passDeltas(b []byte, most, bits int) (n int, rest []byte, err error) {
	d := deltas{rest: b}
	block, miniblocks, values := d.uvarint(), d.uvarint(), d.uvarint()
	d.uvarint() // the first value
	if d.bad || values > uint64(most) || block > math.MaxInt32 || miniblocks == 0 || block%miniblocks != 0 {
		return 0, nil, ErrDamaged
	}
	for left := max(values, 1) - 1; left > 0; {
		d.uvarint() // the least difference
		for _, width := range d.take(miniblocks) {
			if left == 0 {
				break // the widths of those that are not needed may be anything
			}
			if int(width) > bits || !d.miniblock(block/miniblocks, left, uint64(width)) {
				return 0, nil, ErrDamaged
			}
			left -= min(left, block/miniblocks)
		}
		if d.bad {
			return 0, nil, ErrDamaged
		}
	}
	return int(values), d.rest, nil
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
