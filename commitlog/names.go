package commitlog

import (
	"encoding/binary"
	"math"
)

// names keeps names of files for ever. Those that writers give are a UUID with a few words around it: the UUID takes 16 bytes, and the name's
// shape, what is in front of it and behind, is kept once.
//
// A name is the number of its shape and the UUID; or noShape, and the name as a sized text.
type names struct {
	arena  arena
	shapes []shape
	ids    map[string]uint32 // by the shapes' keys
	last   uint32            // the shape of the name before

	packed, key []byte // scratch
}

// shape is what is around a name's UUID.
type shape struct{ front, back string }

const (
	// noShape is that of names without a UUID.
	noShape = 0
	// maxShapes is how many are kept, at most. A name of another one is kept as it is.
	maxShapes = math.MaxUint16
)

func newNames() names { return names{shapes: make([]shape, 1), ids: map[string]uint32{}} }

// append returns the name's place.
func (n *names) append(name []byte) uint64 {
	shape, id := n.shapeOf(name)
	n.packed = binary.AppendUvarint(n.packed[:0], uint64(shape))
	if shape == noShape {
		n.packed = appendSized(n.packed, name)
	} else {
		n.packed = append(n.packed, id[:]...)
	}
	return n.arena.append(n.packed)
}

// appendAt appends the name of a place.
func (n *names) appendAt(b []byte, place uint64) []byte {
	packed := n.arena.from(place)
	id, size := binary.Uvarint(packed)
	packed = packed[size:]
	if id == noShape {
		name, _ := cutSized(packed)
		return append(b, name...)
	}
	s := &n.shapes[id]
	return append(appendUUID(append(b, s.front...), packed), s.back...)
}

// shapeOf takes a name apart. It looks for the UUID where the name before has it, first.
func (n *names) shapeOf(name []byte) (uint32, [uuidBytes]byte) {
	if s := &n.shapes[n.last]; n.last != noShape && len(name) == len(s.front)+uuidLength+len(s.back) {
		at := len(s.front)
		id, ok := packUUID(name[at:])
		if ok && string(name[:at]) == s.front && string(name[at+uuidLength:]) == s.back {
			return n.last, id
		}
	}
	for at := 0; at+uuidLength <= len(name); at++ {
		if id, ok := packUUID(name[at:]); ok {
			return n.shape(name[:at], name[at+uuidLength:]), id
		}
	}
	return noShape, [uuidBytes]byte{}
}

// shape is the number of a shape, noShape when there are too many.
func (n *names) shape(front, back []byte) uint32 {
	n.key = append(appendSized(n.key[:0], front), back...)
	id, known := n.ids[string(n.key)]
	if !known {
		if len(n.shapes) > maxShapes {
			return noShape
		}
		id = uint32(len(n.shapes))
		n.shapes = append(n.shapes, shape{string(front), string(back)})
		n.ids[string(n.key)] = id
	}
	n.last = id
	return id
}

// seal ends the adding: what only that needs is given back.
func (n *names) seal() { n.ids, n.packed, n.key = nil, nil, nil }
