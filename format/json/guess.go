package json

import (
	"encoding/binary"
	"unicode/utf8"
)

// guess is the field that is expected behind another one, or at the beginning of an object, and the bytes from there to its
// value: the bracket or comma, the name, the colon, and whatever space the writer puts in between. Writers mostly keep to one
// order and one style, so that one comparison stands for reading all of this.
type guess struct {
	slot *slot // nil where nothing is expected

	raw  []byte
	head uint64 // the first bytes of raw, eight at most, in one word
	mask uint64 // of the bytes of head that there are
	tail uint64 // the last eight bytes, if there are as many
}

// maxGuess bounds the bytes of a guess.
const maxGuess = 256

// learn makes the field the one expected, behind these bytes. What is not UTF-8, which a bad record may have, is never expected.
func (g *guess) learn(s *slot, raw []byte) {
	g.slot = nil
	if len(raw) > maxGuess || !utf8.Valid(raw) {
		return
	}
	g.slot, g.raw = s, append(g.raw[:0], raw...)
	var head, mask [8]byte
	for i := range copy(head[:], raw) {
		mask[i] = 0xFF
	}
	g.head, g.mask = binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(mask[:])
	if len(raw) > 8 {
		g.tail = binary.LittleEndian.Uint64(raw[len(raw)-8:])
	}
}

// right says whether the field stands at p of a scanner's buffer.
func (g *guess) right(buf []byte, p int) bool {
	if g.slot == nil || word(buf, p)&g.mask != g.head {
		return false
	}
	n := len(g.raw)
	if n <= padding {
		return n <= 8 || word(buf, p+n-8) == g.tail
	}
	return p+n <= len(buf) && string(buf[p:p+n]) == string(g.raw)
}
