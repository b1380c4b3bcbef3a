package commitlog

import (
	"encoding/binary"
	"math"
)

// appendSized appends a text behind its length.
func appendSized(b, text []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// cutSized takes such a text off the front.
func cutSized(b []byte) (text, rest []byte) {
	n, size := binary.Uvarint(b)
	b = b[size:]
	return b[:n:n], b[n:]
}

// arenaChunk is the size of an arena's pieces in bytes.
const arenaChunk = 1 << 20

// arena keeps texts for ever, without a header each and without copying any as it grows.
type arena struct{ chunks [][]byte }

// append returns the place of a text that is not empty.
func (a *arena) append(text []byte) uint64 {
	last := len(a.chunks) - 1
	if last < 0 || cap(a.chunks[last])-len(a.chunks[last]) < len(text) {
		a.chunks = append(a.chunks, make([]byte, 0, max(arenaChunk, len(text)))) // a text too long for a chunk has one alone
		last++
	}
	at := uint64(last)*arenaChunk + uint64(len(a.chunks[last]))
	a.chunks[last] = append(a.chunks[last], text...)
	return at
}

// from is the text of a place, and what is behind it: the text has to tell where it ends.
func (a *arena) from(place uint64) []byte { return a.chunks[place/arenaChunk][place%arenaChunk:] }

// dictionary gives each different text a number.
type dictionary struct {
	texts []string
	ids   map[string]uint32
	limit uint32 // of the numbers
}

// id is the number of a text. The limit must be out of reach.
func (d *dictionary) id(text []byte) uint32 {
	id, _ := d.tryID(text)
	return id
}

// tryID is the number of a text; ok is false when it is a new one and there are no numbers left.
func (d *dictionary) tryID(text []byte) (id uint32, ok bool) {
	if id, ok = d.ids[string(text)]; ok {
		return id, true
	}
	if uint32(len(d.texts)) >= d.limit {
		return 0, false
	}
	if d.ids == nil {
		d.ids = map[string]uint32{}
	}
	id = uint32(len(d.texts))
	d.texts = append(d.texts, string(text))
	d.ids[d.texts[id]] = id
	return id, true
}

// sparseInts are numbers by row, of which most tables have none. None is negative.
type sparseInts struct{ values []int64 }

func (s *sparseInts) set(row uint32, v int64) {
	for len(s.values) <= int(row) {
		s.values = append(s.values, -1)
	}
	s.values[row] = v
}

func (s *sparseInts) get(row uint32) *int64 {
	if int(row) >= len(s.values) || s.values[row] < 0 {
		return nil
	}
	v := s.values[row]
	return &v
}

// fileIndex finds rows by hash: open addressing with linear probing, at most three quarters full. A slot has the upper
// half of its hash above the number of its row plus one.
type fileIndex struct{ slots []uint64 }

func (x *fileIndex) grow(n int) {
	if 4*n <= 3*len(x.slots) {
		return
	}
	size := 64
	for 4*n > 3*size {
		size *= 2
	}
	old := x.slots
	x.slots = make([]uint64, size)
	for _, s := range old {
		if s == 0 {
			continue
		}
		at, _ := x.find(s, func(uint32) bool { return false })
		x.slots[at] = s
	}
}

// find returns the slot of the row that is the one looked for, or the free one where it belongs.
func (x *fileIndex) find(hash uint64, is func(row uint32) bool) (slot int, found bool) {
	mask := uint64(len(x.slots) - 1)
	for at := hash >> 32 & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s == 0 {
			return int(at), false
		}
		if s>>32 == hash>>32 && is(uint32(s&math.MaxUint32)-1) {
			return int(at), true
		}
	}
}

func (x *fileIndex) row(slot int) uint32 { return uint32(x.slots[slot]&math.MaxUint32) - 1 }

func (x *fileIndex) set(slot int, hash uint64, row uint32) {
	x.slots[slot] = hash&^math.MaxUint32 | uint64(row+1)
}
