package json

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// valueScan finds the end of a value, piece by piece, by its brackets and strings alone. Whether it is JSON is for the
// decoder to say.
type valueScan struct {
	begun    bool
	bare     bool // neither brackets nor a string: it ends in front of a space or a delimiter
	depth    int
	inString bool
	escaped  bool
}

// scan goes on with the next bytes. It returns how many of them belong to the value, and whether it ends there.
func (v *valueScan) scan(b []byte) (int, bool) {
	i := 0
	if !v.begun && len(b) > 0 {
		v.begun = true
		if v.bare = b[0] != '{' && b[0] != '[' && b[0] != '"'; v.bare {
			i = 1
		}
	}
	if v.bare {
		end := bytes.IndexAny(b[i:], " \t\n\r,]}{[\"")
		if end < 0 {
			return len(b), false
		}
		return i + end, true
	}
	for i < len(b) {
		if v.inString {
			i = v.string(b, i)
		} else {
			i = v.brackets(b, i)
		}
		if v.depth == 0 && !v.inString {
			return i, true
		}
	}
	return i, false
}

// string goes on inside a string, from i to behind its end.
func (v *valueScan) string(b []byte, i int) int {
	for i < len(b) {
		if v.escaped {
			v.escaped = false
			i++
			continue
		}
		if i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		c := b[i]
		i++
		if c == '"' {
			v.inString = false
			break
		}
		v.escaped = c == '\\'
	}
	return i
}

// brackets goes on between strings, from i to behind the next quote or the last bracket.
func (v *valueScan) brackets(b []byte, i int) int {
	for i < len(b) {
		c := b[i]
		i++
		switch c {
		case '"':
			v.inString = true
			return i
		case '{', '[':
			v.depth++
		case '}', ']':
			v.depth--
			if v.depth == 0 {
				return i
			}
		}
	}
	return i
}
