package table

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// appendHybrid appends numbers of at most width bits (0 to 32) in Parquet's hybrid of runs and bit-packed groups of eight
// (Encodings.md, "RLE / Bit-Packing Hybrid"), without a length in front. Runs begin where groups do.
func appendHybrid[T uint8 | uint32](b []byte, values []T, width int) []byte {
	literal := 0 // what is not appended yet begins here
	for i := 0; i+groupSize <= len(values); {
		end := i + groupSize
		if uniform((*[groupSize]T)(values[i:])) {
			for end < len(values) && values[end] == values[i] {
				end++
			}
			if end < len(values) {
				end -= (end - i) % groupSize
			}
			if runPays(end-i, width) {
				b = appendPacked(b, values[literal:i], width)
				b = appendRun(b, end-i, uint32(values[i]), width)
				literal = end
			}
		}
		i = end
	}
	return appendPacked(b, values[literal:], width)
}

// groupSize is the number of values in a bit-packed group.
const groupSize = 8

// runPays says whether a run of so many values is shorter than their groups: it takes some four bytes, with the header of what comes after.
func runPays(times, width int) bool { return width == 0 || times/groupSize*width > 4 }

// uniform says whether the values are all the same. It does not branch: with few different values, it would take the wrong way all the time.
func uniform[T uint8 | uint32](g *[groupSize]T) bool {
	first := g[0]
	return (first^g[1])|(first^g[2])|(first^g[3])|(first^g[4])|(first^g[5])|(first^g[6])|(first^g[7]) == 0
}

// appendRun appends the same number so many times.
func appendRun(b []byte, times int, value uint32, width int) []byte {
	b = binary.AppendUvarint(b, uint64(times)<<1)
	for n := 0; n < width; n += 8 {
		b = append(b, byte(value>>n))
	}
	return b
}

// appendPacked appends numbers bit by bit; those that lack to the last group are zeros.
func appendPacked[T uint8 | uint32](b []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return b
	}
	groups := (len(values) + groupSize - 1) / groupSize
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	start, end := len(b), len(b)+groups*width
	b = slices.Grow(b, groups*width+8)[:end+8] // a group of eight bytes or fewer is stored as eight
	if width > 8 {
		packWide(b[start:end], values, width)
		return b[:end]
	}
	to := b[start:]
	for len(values) >= groupSize {
		binary.LittleEndian.PutUint64(to, packed((*[groupSize]T)(values), width))
		values, to = values[groupSize:], to[width:]
	}
	if len(values) > 0 {
		var last [groupSize]T
		copy(last[:], values)
		binary.LittleEndian.PutUint64(to, packed(&last, width))
	}
	return b[:end]
}

// packed is a group of numbers of at most eight bits.
func packed[T uint8 | uint32](g *[groupSize]T, width int) uint64 {
	w := uint(width) & 15
	low := uint64(g[0]) | uint64(g[1])<<w | uint64(g[2])<<(2*w) | uint64(g[3])<<(3*w)
	high := uint64(g[4]) | uint64(g[5])<<w | uint64(g[6])<<(2*w) | uint64(g[7])<<(3*w)
	return low | high<<(4*w)
}

// packWide fills the bytes with numbers, and with zeros behind.
func packWide[T uint8 | uint32](to []byte, values []T, width int) {
	pending, filled, n := uint64(0), 0, 0
	for _, v := range values {
		pending |= uint64(v) << filled
		if filled += width; filled >= 32 {
			binary.LittleEndian.PutUint32(to[n:], uint32(pending))
			pending >>= 32
			filled -= 32
			n += 4
		}
	}
	for ; n < len(to); n++ {
		to[n] = byte(pending)
		pending >>= 8
	}
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
			to = appendTimes(to, T(value), times)
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
	from := len(to)
	to = slices.Grow(to, n)[:from+n]
	if width <= 8 {
		done := unpackGroups(to[from:], packed, width)
		from, packed = from+done, packed[done/groupSize*width:]
	}
	pending, filled := uint64(0), 0
	mask := uint64(1)<<width - 1
	for i := range to[from:] {
		for filled < width {
			if len(packed) >= 4 && filled <= 32 {
				pending |= uint64(binary.LittleEndian.Uint32(packed)) << filled
				packed, filled = packed[4:], filled+32
				continue
			}
			pending |= uint64(packed[0]) << filled
			packed, filled = packed[1:], filled+8
		}
		to[from+i] = T(pending & mask)
		pending >>= width
		filled -= width
	}
	return to
}

// unpackGroups fills whole groups of numbers of at most eight bits, as long as eight bytes are left to read, and says how many numbers these are.
func unpackGroups[T uint8 | uint32](to []T, packed []byte, width int) (n int) {
	w, mask := uint(width)&15, T(1)<<width-1
	for ; len(to)-n >= groupSize && len(packed) >= 8; packed = packed[width:] {
		x, g := binary.LittleEndian.Uint64(packed), (*[groupSize]T)(to[n:])
		g[0], g[1], g[2], g[3] = T(x)&mask, T(x>>w)&mask, T(x>>(2*w))&mask, T(x>>(3*w))&mask
		x >>= 4 * w
		g[4], g[5], g[6], g[7] = T(x)&mask, T(x>>w)&mask, T(x>>(2*w))&mask, T(x>>(3*w))&mask
		n += groupSize
	}
	return n
}

// widthOf is the number of bits that hold any number up to most.
func widthOf(most int) int { return bits.Len(uint(most)) }
