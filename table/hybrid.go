package table

import (
	"encoding/binary"
	"math/bits"
)

// appendHybrid appends numbers of at most width bits (0 to 32) in Parquet's hybrid of runs and bit-packed groups
// (Encodings.md, "RLE / Bit-Packing Hybrid"), without a length in front.
func appendHybrid[T uint8 | uint32](b []byte, values []T, width int) []byte {
	literal := 0 // what is not appended yet begins here
	for i := 0; i < len(values); {
		end := i + 1
		for end < len(values) && values[end] == values[i] {
			end++
		}
		// Groups are of eight, so that the numbers before a run may have to be filled up from it.
		fill := -(i - literal) & 7
		if end-i >= fill+8 {
			b = appendPacked(b, values[literal:i+fill], width)
			b = appendRun(b, end-i-fill, uint32(values[i]), width)
			literal = end
		}
		i = end
	}
	return appendPacked(b, values[literal:], width)
}

// appendRun appends the same number so many times.
func appendRun(b []byte, times int, value uint32, width int) []byte {
	b = binary.AppendUvarint(b, uint64(times)<<1)
	for n := 0; n < width; n += 8 {
		b = append(b, byte(value>>n))
	}
	return b
}

// appendPacked appends numbers bit by bit; those that lack to the last group of eight are zeros.
func appendPacked[T uint8 | uint32](b []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return b
	}
	groups := (len(values) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	end := len(b) + groups*width
	pending, filled := uint64(0), 0
	for _, v := range values {
		pending |= uint64(v) << filled
		if filled += width; filled >= 32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(pending))
			pending >>= 32
			filled -= 32
		}
	}
	for len(b) < end {
		b = append(b, byte(pending))
		pending >>= 8
	}
	return b[:end]
}

// widthOf is the number of bits that hold any number up to most.
func widthOf(most int) int { return bits.Len(uint(most)) }
