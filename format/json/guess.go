package json

import (
	"encoding/binary"
	"unicode/utf8"
)

// guess is the field that is expected behind another one, or at the beginning of an object, and the bytes from there to its
// value: the bracket or comma, the name, the colon, and whatever space the writer puts in between. Writers mostly keep to one
// order and one style, so that one comparison stands for reading all of this, but for more space than before in front of the value.
type guess struct {
	field *field
	raw   []byte // empty where nothing is expected

	// What the bytes have to be, in two words of them that overlap where there are few: at 0, and at more. The masks have the bytes that
	// there are. The bits are turned over, so that nothing begins as a guess of which they are all zero.
	head, headMask uint64
	tail, tailMask uint64
	more           int
}

// maxGuess bounds the bytes of a guess.
const maxGuess = 256

// learn makes the field the one expected, behind these bytes. What is not UTF-8, which a bad record may have, is never expected.
func (g *guess) learn(f *field, raw []byte) {
	*g = guess{raw: g.raw[:0]}
	if len(raw) > maxGuess || !utf8.Valid(raw) {
		return
	}
	g.field, g.raw = f, append(g.raw, raw...)
	g.more = max(0, min(len(raw), 16)-8)
	g.head, g.headMask = masked(g.raw)
	g.tail, g.tailMask = masked(g.raw[g.more:])
}

// masked returns the first eight bytes, or fewer, as a word with its bits turned over, and the mask of those that there are.
func masked(b []byte) (bits, mask uint64) {
	var word, there [8]byte
	for i := range copy(word[:], b) {
		there[i] = 0xFF
	}
	return ^binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(there[:])
}

// right says whether the field that is expected, if one is, stands at p of a scanner's buffer.
func (g *guess) right(buf []byte, p int) bool {
	n := len(g.raw)
	return g.begins(buf, p) && (n <= 16 || len(buf) >= p+n && string(buf[p+16:p+n]) == string(g.raw[16:]))
}

// begins is right for the two words.
func (g *guess) begins(buf []byte, p int) bool {
	return (word(buf, p)&g.headMask^g.head)&(word(buf, p+g.more)&g.tailMask^g.tail) == 1<<64-1
}
