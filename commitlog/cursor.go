package commitlog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// maxDepth bounds the nesting of JSON in a commit.
const maxDepth = 500

// cursor walks over JSON text without building a tree. It accepts exactly RFC 8259, tells members apart by their exact
// names, and remembers the first error: after one, all calls return zero values. Its bytes must be valid UTF-8.
type cursor struct {
	b         []byte
	i         int
	err       error
	unescaped []byte // the strings so far that had escapes, one behind the other
}

func (c *cursor) failf(format string, args ...any) {
	if c.err == nil {
		line := 1 + bytes.Count(c.b[:min(c.i, len(c.b))], []byte{'\n'})
		c.err = fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
	}
}

// peek returns the next byte that is not white space, 0 at the end or after an error.
func (c *cursor) peek() byte {
	if c.err != nil {
		return 0
	}
	for c.i < len(c.b) {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// expect consumes one byte of punctuation.
func (c *cursor) expect(want byte) bool {
	got := c.peek()
	if c.err != nil {
		return false
	}
	if got != want {
		c.unexpected(fmt.Sprintf("%q", want))
		return false
	}
	c.i++
	return true
}

func (c *cursor) unexpected(want string) {
	got := c.peek()
	switch {
	case c.err != nil:
	case c.i >= len(c.b):
		c.failf("it ends where %s should be", want)
	default:
		c.failf("%q where %s should be", got, want)
	}
}

// object walks over an object; member has to consume the value of each.
func (c *cursor) object(member func(name []byte)) {
	if !c.expect('{') {
		return
	}
	if c.peek() == '}' {
		c.i++
		return
	}
	for c.err == nil {
		if c.peek() != '"' {
			c.unexpected("a member's name")
			return
		}
		name := c.text()
		if !c.expect(':') {
			return
		}
		member(name)
		if c.peek() == ',' {
			c.i++
			continue
		}
		c.expect('}')
		return
	}
}

// array walks over an array; element has to consume each.
func (c *cursor) array(element func()) {
	if !c.expect('[') {
		return
	}
	if c.peek() == ']' {
		c.i++
		return
	}
	for c.err == nil {
		element()
		if c.peek() == ',' {
			c.i++
			continue
		}
		c.expect(']')
		return
	}
}

// null consumes a null, if there is one.
func (c *cursor) null() bool {
	if c.peek() != 'n' {
		return false
	}
	c.literal("null")
	return c.err == nil
}

func (c *cursor) literal(word string) {
	if !bytes.HasPrefix(c.b[c.i:], []byte(word)) {
		c.unexpected("a value")
		return
	}
	c.i += len(word)
}

func (c *cursor) bool() bool {
	switch c.peek() {
	case 't':
		c.literal("true")
		return c.err == nil
	case 'f':
		c.literal("false")
	default:
		c.unexpected("true or false")
	}
	return false
}

// int reads a whole number of at most bits bits. 10.0 and 1e3 are whole numbers, as they are for other readers.
func (c *cursor) int(bits int) int64 {
	if b := c.peek(); b != '-' && (b < '0' || b > '9') {
		c.unexpected("a number")
		return 0
	}
	text := c.number()
	if c.err != nil {
		return 0
	}
	if n, err := strconv.ParseInt(string(text), 10, bits); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(text), 64)
	limit := math.Ldexp(1, min(bits-1, 53))
	if err != nil || f != math.Trunc(f) || f < -limit || f >= limit || !bytes.ContainsAny(text, ".eE") {
		c.failf("%.40s is not a whole number of %d bits", text, bits)
		return 0
	}
	return int64(f)
}

// number consumes a number and returns its text.
func (c *cursor) number() []byte {
	start := c.i
	if c.at() == '-' {
		c.i++
	}
	switch {
	case c.at() == '0':
		c.i++
	case c.digits() == 0:
		c.failf("a number without digits")
		return nil
	}
	if c.at() == '.' {
		c.i++
		if c.digits() == 0 {
			c.failf("a number without digits after its point")
			return nil
		}
	}
	if b := c.at(); b == 'e' || b == 'E' {
		c.i++
		if b := c.at(); b == '+' || b == '-' {
			c.i++
		}
		if c.digits() == 0 {
			c.failf("a number without an exponent's digits")
			return nil
		}
	}
	return c.b[start:c.i]
}

func (c *cursor) at() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

func (c *cursor) digits() int {
	start := c.i
	for b := c.at(); b >= '0' && b <= '9'; b = c.at() {
		c.i++
	}
	return c.i - start
}

// skip consumes a value of any kind and returns its text.
func (c *cursor) skip() []byte {
	c.peek()
	start, before := c.i, len(c.unescaped)
	c.value(0)
	c.unescaped = c.unescaped[:before]
	if c.err != nil {
		return nil
	}
	return c.b[start:c.i]
}

func (c *cursor) value(depth int) {
	if depth > maxDepth {
		c.failf("nested deeper than %d levels", maxDepth)
		return
	}
	switch b := c.peek(); {
	case c.err != nil:
	case b == '{':
		c.object(func([]byte) { c.value(depth + 1) })
	case b == '[':
		c.array(func() { c.value(depth + 1) })
	case b == '"':
		c.text()
	case b == 't':
		c.literal("true")
	case b == 'f':
		c.literal("false")
	case b == 'n':
		c.literal("null")
	case b == '-', b >= '0' && b <= '9':
		c.number()
	default:
		c.unexpected("a value")
	}
}
