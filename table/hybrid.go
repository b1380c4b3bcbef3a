package table

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"
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

var errShortRuns = fmt.Errorf("its levels or indices end too early: %w", errDamaged)

// decodeHybrid appends the first n numbers that appendHybrid, or another writer, has encoded with a width of at most 32 bits.
func decodeHybrid[T uint8 | uint32](to []T, b []byte, width, n int) ([]T, error) {
	if width > 8*int(unsafe.Sizeof(T(0))) {
		return nil, fmt.Errorf("its levels or indices are wider than they can be: %w", errDamaged)
	}
	for n > 0 {
		header, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errShortRuns
		}
		b = b[size:]
		if header&1 == 0 {
			bytes := (width + 7) / 8
			if len(b) < bytes || header>>1 == 0 {
				return nil, errShortRuns
			}
			value := uint32(0)
			for i := range bytes {
				value |= uint32(b[i]) << (8 * i)
			}
			b = b[bytes:]
			times := int(min(header>>1, uint64(n)))
			for range times {
				to = append(to, T(value))
			}
			n -= times
			continue
		}
		count := int(min(header>>1, uint64(n+7)/8)) * 8
		if len(b) < count/8*width {
			return nil, errShortRuns
		}
		packed := b[:count/8*width]
		b = b[len(packed):]
		count = min(count, n)
		to = decodePacked(to, packed, width, count)
		n -= count
	}
	return to, nil
}

// decodePacked appends n numbers that lie bit behind bit.
func decodePacked[T uint8 | uint32](to []T, packed []byte, width, n int) []T {
	pending, filled := uint64(0), 0
	mask := uint64(1)<<width - 1
	for range n {
		for filled < width {
			if len(packed) >= 4 && filled <= 32 {
				pending |= uint64(binary.LittleEndian.Uint32(packed)) << filled
				packed, filled = packed[4:], filled+32
				continue
			}
			pending |= uint64(packed[0]) << filled
			packed, filled = packed[1:], filled+8
		}
		to = append(to, T(pending&mask))
		pending >>= width
		filled -= width
	}
	return to
}

// widthOf is the number of bits that hold any number up to most.
func widthOf(most int) int { return bits.Len(uint(most)) }
