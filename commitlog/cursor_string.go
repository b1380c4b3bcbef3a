package commitlog

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string.
func (c *cursor) string() string { return string(c.text()) }

// text reads a string. The bytes may be a part of the cursor's.
func (c *cursor) text() []byte {
	if !c.expect('"') {
		return nil
	}
	start := c.i
	for ; c.i < len(c.b); c.i++ {
		switch b := c.b[c.i]; {
		case b == '"':
			s := c.b[start:c.i]
			c.i++
			return s
		case b == '\\':
			return c.escaped(start)
		case b < 0x20:
			c.failf("a control character inside a string")
			return nil
		}
	}
	c.failf("it ends inside a string")
	return nil
}

// escaped reads the rest of a string that began at start, from its first escape on.
func (c *cursor) escaped(start int) []byte {
	out := append(make([]byte, 0, 2*(c.i-start)+64), c.b[start:c.i]...)
	for c.i < len(c.b) && c.err == nil {
		switch b := c.b[c.i]; {
		case b == '"':
			c.i++
			return out
		case b == '\\':
			out = c.escape(out)
		case b < 0x20:
			c.failf("a control character inside a string")
		default:
			out = append(out, b)
			c.i++
		}
	}
	c.failf("it ends inside a string")
	return nil
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
