package table

import (
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/s2"
)

// Blocks of Snappy are elements behind a length: bytes as they are, and copies of bytes that are some distance back
// (google/snappy, format_description.txt). Where no copy in one part of a block reaches back behind its beginning, that part's elements
// make the same bytes behind any others. So pages become one without being decompressed, but for their levels, which lie in front of the values.

// snappyCut is a page of version 1 in two.
type snappyCut struct {
	levels   []byte // with their length in front; empty where there are none
	elements []byte // that make the values, behind those of others
	size     int    // of the values, in bytes
}

// cutSnappy cuts a page's levels off, if it has some, into room's memory if that is enough, and appends the elements of its values to others. It is not ok where these are
// no block of Snappy, and where values are repeated from the levels in a way that none of our encoders has.
func cutSnappy(block []byte, levelled bool, others, room []byte) (c snappyCut, ok bool) {
	size, n := binary.Uvarint(block)
	if n <= 0 || size > math.MaxInt32 {
		return c, false
	}
	made, rest, end := room[:0], block[n:], 0
	if levelled {
		if made, rest, ok = elementsUpTo(4, made, rest, int(size)); !ok {
			return c, false
		}
		if end = 4 + int(binary.LittleEndian.Uint32(made)); end > int(size) {
			return c, false
		}
		if made, rest, ok = elementsUpTo(end, made, rest, int(size)); !ok {
			return c, false
		}
	}
	c = snappyCut{levels: made[:end], size: int(size) - end}
	c.elements, ok = appendBehind(appendSnappyLiteral(others, made[end:]), rest, made, end, int(size))
	return c, ok
}

// elementsUpTo makes bytes of elements until there are so many, and returns the elements behind.
func elementsUpTo(end int, made, elements []byte, most int) (all, rest []byte, ok bool) {
	for len(made) < end {
		e, ok := snappyElement(elements)
		if !ok || e.distance > len(made) || len(made)+e.length > most {
			return nil, nil, false
		}
		literal := elements[e.header:e.taken]
		made = append(made, literal...)
		for range e.length - len(literal) {
			made = append(made, made[len(made)-e.distance])
		}
		elements = elements[e.taken:]
	}
	return made, elements, true
}

// appendBehind appends elements that go on from what is made to so many bytes, without what is made before end: copies of that become literals.
func appendBehind(to, elements, made []byte, end, size int) (all []byte, ok bool) {
	kept, n := 0, len(made) // elements are appended up to kept, and make n bytes so far
	for at := 0; at < len(elements); {
		if some, made := passShort(elements[at:], n-end); some > 0 {
			at, n = at+some, n+made
			continue
		}
		e, ok := snappyElement(elements[at:])
		if !ok || e.distance > n {
			return nil, false
		}
		if e.distance > n-end {
			from := n - e.distance
			if from+e.length > len(made) {
				return nil, false
			}
			to = appendSnappyLiteral(append(to, elements[kept:at]...), made[from:from+e.length])
			kept = at + e.taken
		}
		n, at = n+e.length, at+e.taken
	}
	return append(to, elements[kept:]...), n == size
}

// shortPair is what a literal whose tag has its length, and the longest copy that passShort knows behind it, take at most.
const shortPair = 61 + 3

// passShort passes over elements of the kinds that most are of, which copy nothing from before the bytes that are made, and says how many bytes they
// take and make. It stops where snappyElement has to look closer.
func passShort(b []byte, before int) (taken, made int) {
	made = before
	for taken <= len(b)-shortPair {
		tag := int(b[taken])
		if tag&3 == 0 { // a literal, mostly with a copy behind it: to look at both at once is less to guess for the processor
			if tag >= 60<<2 {
				break
			}
			taken, made = taken+tag>>2+2, made+tag>>2+1
			if tag = int(b[taken]); tag&3 == 0 {
				continue
			}
		}
		var distance, header, length int
		switch tag & 3 {
		case 1:
			distance, header, length = tag>>5<<8|int(b[taken+1]), 2, 4+tag>>2&7
		case 2:
			distance, header, length = int(binary.LittleEndian.Uint16(b[taken+1:])), 3, 1+tag>>2
		}
		if distance == 0 || distance > made {
			break
		}
		taken, made = taken+header, made+length
	}
	return taken, made - before
}

// element is one of a block of Snappy.
type element struct {
	header   int // bytes in front of a literal's own
	taken    int // bytes, all together
	length   int // of what it makes
	distance int // from which a copy is; 0: a literal
}

// snappyElement returns the element that some bytes begin with.
func snappyElement(b []byte) (e element, ok bool) {
	if len(b) == 0 {
		return e, false
	}
	tag := int(b[0])
	switch kind := tag & 3; {
	case kind == 0:
		return snappyLiteral(b, tag>>2)
	case kind == 1 && len(b) >= 2:
		e = element{header: 2, taken: 2, length: 4 + tag>>2&7, distance: tag>>5<<8 | int(b[1])}
	case kind == 2 && len(b) >= 3:
		e = element{header: 3, taken: 3, length: 1 + tag>>2, distance: int(binary.LittleEndian.Uint16(b[1:]))}
	case kind == 3 && len(b) >= 5:
		e = element{header: 5, taken: 5, length: 1 + tag>>2, distance: int(binary.LittleEndian.Uint32(b[1:]))}
	}
	return e, e.distance > 0
}

// snappyLiteral is a literal, whose tag has its length less one, or from 60 on by how many bytes that is behind it.
func snappyLiteral(b []byte, length int) (e element, ok bool) {
	header := 1
	if length >= 60 {
		header += length - 59
		if len(b) < header {
			return e, false
		}
		length = 0
		for i, v := range b[1:header] {
			length |= int(v) << (8 * i)
		}
	}
	length++
	return element{header: header, taken: header + length, length: length}, length <= len(b)-header
}

// appendSnappyLiteral appends an element that makes the bytes, if there are any.
func appendSnappyLiteral(elements, b []byte) []byte {
	switch n := len(b) - 1; {
	case n < 0:
		return elements
	case n < 60:
		elements = append(elements, byte(n)<<2)
	case n < 1<<16:
		elements = append(elements, 61<<2, byte(n), byte(n>>8))
	default:
		elements = append(elements, 63<<2, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return append(elements, b...)
}

// appendSnappy appends elements that make the bytes in as few as Snappy finds, in room's memory meanwhile.
func appendSnappy(elements, b []byte, room *[]byte) []byte {
	*room = s2.EncodeSnappy((*room)[:cap(*room)], b)
	_, n := binary.Uvarint(*room)
	return append(elements, (*room)[n:]...)
}
