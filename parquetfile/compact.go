package parquetfile

import (
	"encoding/binary"
	"math"
)

// compactReader reads the compact protocol of Thrift (thrift-compact-protocol.md) off the front of bytes, for the few structures that are read of every
// file and page of many; parquet-go reads the others. It knows fields in the order of their ids only, as all writers have them. After what it does
// not know it is bad, and all that is read is zero.
type compactReader struct {
	rest     []byte
	bad      bool
	anyOrder bool // of fields, where they are only passed over
}

// Types of fields and of items in lists.
const (
	compactTrue = iota + 1
	compactFalse
	compactI8
	compactI16
	compactI32
	compactI64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
)

// compactDepth is how deep structures may lie in each other that are passed over.
const compactDepth = 16

func (r *compactReader) fail() { r.rest, r.bad = nil, true }

func (r *compactReader) byte() byte {
	if len(r.rest) == 0 {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *compactReader) uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		return uint64(r.byte())
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *compactReader) zigzag() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// long reads the integer of a field of a type that has 64 bits.
func (r *compactReader) long(t byte) int64 {
	if t != compactI64 {
		r.fail()
	}
	return r.zigzag()
}

// integer reads the integer of a field of a type that has 32 bits.
func (r *compactReader) integer(t byte) int32 {
	if t != compactI32 {
		r.fail()
	}
	v := r.zigzag()
	if v < math.MinInt32 || v > math.MaxInt32 {
		r.fail()
		return 0
	}
	return int32(v)
}

// truth reads the truth of a field, which its type tells.
func (r *compactReader) truth(t byte) bool {
	if t != compactTrue && t != compactFalse {
		r.fail()
	}
	return t == compactTrue
}

// truthItem reads a truth in a list of such a type. What is false is 2 with some writers, and 0 with others.
func (r *compactReader) truthItem(t byte) bool {
	b := r.byte()
	if t != compactTrue && t != compactFalse || b > compactFalse {
		r.fail()
	}
	return b == compactTrue
}

// binary reads the bytes of a field of a type; they are those that are read from.
func (r *compactReader) binary(t byte) []byte {
	if t != compactBinary {
		r.fail()
	}
	return r.take(r.uvarint())
}

func (r *compactReader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// structure reads a structure of a type. Each field is read by the function.
func (r *compactReader) structure(t byte, field func(id int, t byte)) {
	if t != compactStruct {
		r.fail()
	}
	for id := 0; ; {
		b := r.byte()
		if b == 0 {
			return
		}
		next := id + int(b>>4)
		if b>>4 == 0 {
			next = int(r.zigzag())
		}
		if next <= id && !r.anyOrder || next > math.MaxInt16 {
			r.fail()
			return
		}
		id = next
		field(id, b&15)
	}
}

// list reads a list of a type. Each item is read by the function.
func (r *compactReader) list(t byte, item func(t byte)) {
	if t != compactList {
		r.fail()
	}
	b := r.byte()
	n := uint64(b >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	if n > uint64(len(r.rest)) { // an item takes a byte at least
		r.fail()
		return
	}
	for ; n > 0 && !r.bad; n-- {
		item(b & 15)
	}
}

// skip passes over a field of a type.
func (r *compactReader) skip(t byte) { r.pass(t, 0) }

func (r *compactReader) pass(t byte, depth int) {
	switch t {
	case compactTrue, compactFalse:
	case compactI8:
		r.byte()
	case compactI16, compactI32, compactI64:
		r.uvarint()
	case compactDouble:
		r.take(8)
	case compactBinary:
		r.take(r.uvarint())
	case compactList, compactSet:
		r.list(compactList, func(t byte) { r.passItem(t, depth) })
	case compactStruct:
		r.structure(t, func(_ int, t byte) { r.passIn(t, depth) })
	default: // no structure of Parquet has a map
		r.fail()
	}
}

// passIn passes over what lies in something at a depth.
func (r *compactReader) passIn(t byte, depth int) {
	if depth == compactDepth {
		r.fail()
		return
	}
	r.pass(t, depth+1)
}

// passItem passes over an item of a list, where truths take a byte.
func (r *compactReader) passItem(t byte, depth int) {
	if t == compactTrue || t == compactFalse {
		t = compactI8
	}
	r.passIn(t, depth)
}
