package commitlog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string.
func (c *cursor) string() string { return string(c.text()) }

// text reads a string. Its bytes are the cursor's: of what it walks over, or of what it has unescaped.
func (c *cursor) text() []byte {
	if !c.expect('"') {
		return nil
	}
	start := c.i
	c.plain()
	if c.i < len(c.b) && c.b[c.i] == '\\' {
		return c.escaped(start)
	}
	return c.quote(c.b[start:c.i])
}

// quote ends a string, whose bytes s are.
func (c *cursor) quote(s []byte) []byte {
	switch {
	case c.err != nil:
		return nil
	case c.i == len(c.b):
		c.failf("it ends inside a string")
		return nil
	case c.b[c.i] != '"':
		c.failf("a control character inside a string")
		return nil
	}
	c.i++
	return s
}

// plain passes over the bytes of a string that stand for themselves.
func (c *cursor) plain() {
	for c.i+8 <= len(c.b) {
		special := specialBytes(binary.LittleEndian.Uint64(c.b[c.i:]))
		if special != 0 {
			c.i += bits.TrailingZeros64(special) / 8
			return
		}
		c.i += 8
	}
	for c.i < len(c.b) && c.b[c.i] >= 0x20 && c.b[c.i] != '"' && c.b[c.i] != '\\' {
		c.i++
	}
}

// specialBytes marks the bytes of a word that do not stand for themselves in a string, quotes, backslashes and control
// characters, by their highest bit. What is above the lowest of the marks may be wrong.
func specialBytes(word uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash := word^ones*'"', word^ones*'\\'
	return ((quote-ones)&^quote | (backslash-ones)&^backslash | (word-ones*0x20)&^word) & tops
}

// escaped reads the rest of a string that began at start, from its first escape on. Nothing becomes longer by unescaping:
// memory that is made once has room for all that there is behind it.
func (c *cursor) escaped(start int) []byte {
	out, from := c.unescaped, len(c.unescaped)
	if need := from + len(c.b) - start + 8; cap(out) < need { // a whole word is stored for each piece of one
		out = make([]byte, 0, need)
	}
	out = append(out, c.b[start:c.i]...)
	for c.err == nil && c.i < len(c.b) && c.b[c.i] == '\\' {
		out = c.plainTo(c.escape(out))
	}
	c.unescaped = out
	return c.quote(out[from:len(out):len(out)])
}

// plainTo is plain, and appends the bytes. There must be room for eight more.
func (c *cursor) plainTo(out []byte) []byte {
	n := len(out)
	for c.i+8 <= len(c.b) {
		word := binary.LittleEndian.Uint64(c.b[c.i:])
		binary.LittleEndian.PutUint64(out[n:n+8], word)
		if special := specialBytes(word); special != 0 {
			k := bits.TrailingZeros64(special) / 8
			c.i += k
			return out[:n+k]
		}
		c.i += 8
		n += 8
	}
	start := c.i
	c.plain()
	return append(out[:n], c.b[min(start, c.i, len(c.b)):min(c.i, len(c.b))]...)
}

// escape appends what one escape sequence stands for.
func (c *cursor) escape(out []byte) []byte {
	c.i++
	b := c.at()
	c.i++
	switch b {
	case '"', '\\', '/':
		return append(out, b)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		return utf8.AppendRune(out, c.codePoint())
	}
	c.failf("an unknown escape inside a string")
	return out
}

// codePoint reads what follows \u, and the second half of a surrogate pair. Half a pair becomes U+FFFD.
func (c *cursor) codePoint() rune {
	r := c.hex4()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if bytes.HasPrefix(c.b[min(c.i, len(c.b)):], []byte(`\u`)) {
		back := c.i
		c.i += 2
		if pair := utf16.DecodeRune(r, c.hex4()); pair != utf8.RuneError {
			return pair
		}
		c.i = back
	}
	return utf8.RuneError
}

func (c *cursor) hex4() rune {
	if c.i+4 > len(c.b) {
		c.failf("it ends inside a string")
		return 0
	}
	n, err := strconv.ParseUint(string(c.b[c.i:c.i+4]), 16, 32)
	if err != nil {
		c.failf("an unknown escape inside a string")
		return 0
	}
	c.i += 4
	return rune(n)
}
