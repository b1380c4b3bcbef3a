package json

import (
	"encoding/binary"
	"unicode/utf8"
)

// guess is the field that is expected behind another one, or at the beginning of an object, and the bytes from there to its
// value: the bracket or comma, the name, the colon, and whatever space the writer puts in between. Writers mostly keep to one
// order and one style, so that one comparison stands for reading all of this.
type guess struct {
	field *field // nil where nothing is expected

	raw []byte

	// What the bytes have to be, in two words of them that overlap where there are few: at 0, and at more. The masks have the bytes that
	// there are. Behind the two come the bytes of rest.
	head, headMask uint64
	tail, tailMask uint64
	more           int
	rest           []byte
}

// maxGuess bounds the bytes of a guess.
const maxGuess = 256

// learn makes the field the one expected, behind these bytes. What is not UTF-8, which a bad record may have, is never expected.
func (g *guess) learn(f *field, raw []byte) {
	g.field = nil
	if len(raw) > maxGuess || !utf8.Valid(raw) {
		return
	}
	g.field, g.raw = f, append(g.raw[:0], raw...)
	both := min(len(raw), 16)
	g.more, g.rest = max(0, both-8), nil
	if both < len(raw) {
		g.rest = g.raw[both:]
	}
	g.head, g.headMask = masked(g.raw)
	g.tail, g.tailMask = masked(g.raw[g.more:])
}

// masked returns the first eight bytes, or fewer, as a word, and the mask of those that there are.
func masked(b []byte) (bits, mask uint64) {
	var word, there [8]byte
	for i := range copy(word[:], b) {
		there[i] = 0xFF
	}
	return binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(there[:])
}

// right says whether the field that is expected, if one is, stands at p of a scanner's buffer.
func (g *guess) right(buf []byte, p int) bool {
	return word(buf, p)&g.headMask^g.head|(word(buf, p+g.more)&g.tailMask^g.tail) == 0 && (g.rest == nil || g.rightRest(buf, p))
}

// rightRest is right for the bytes behind the two words.
func (g *guess) rightRest(buf []byte, p int) bool {
	return len(buf) >= p+len(g.raw) && string(buf[p+16:p+len(g.raw)]) == string(g.rest)
}
