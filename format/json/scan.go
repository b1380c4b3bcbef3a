package json

import (
	"bytes"
	"fmt"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth is how deep arrays and objects of a record may nest.
const MaxDepth = 512

// padding is the number of bytes behind a record in the scanner's buffer that may be read, so that up to as many can be loaded at any
// position of the record. The first of them stops every scan without a check of its own; see stops.
const padding = copyStep

// scanner walks over the bytes of one record. Its methods take a position and return the one behind what they have read,
// or a negative one after they have set the reason.
type scanner struct {
	buf   []byte // the record and the padding, where they came or in own
	own   []byte
	spans bool // guesses may go over the end of a line
	end   int  // of the record in buf
	depth int
	text  []byte // the last string that had escapes, decoded
	high  uint64 // the words of all strings of the record, in one: without a high bit they are ASCII

	// paired makes skipping refuse lone surrogates, which otherwise only decoding does.
	paired bool

	reason string // why the record is bad
	broken bool   // it is no JSON, or not to be read; otherwise it does not fit a column
}

// load makes the record the scanner's and returns the position of its value.
func (s *scanner) load(record []byte) int {
	s.depth, s.high = 0, 0
	n := len(record)
	if n == 0 {
		return s.refuse("empty value")
	}
	if n+padding <= cap(record) && !s.spans && stops(record[:n+1][n]) {
		s.buf, s.end = record[:n+padding], n
	} else {
		s.own = append(append(s.own[:0], record...), make([]byte, padding)...)
		s.buf, s.end = s.own, n
	}
	if record[0] == '{' {
		return 0
	}
	return s.begin()
}

// stops says whether every scan ends at the byte, where it stands behind a record: a zero byte stands nowhere in JSON, and the end of a line
// not in strings, numbers and words; space says where it ends among what lies between those. Records of most files and topics have such
// a byte behind them in the memory that they came in, and are read there.
func stops(c byte) bool { return c == 0 || c == '\n' || c == '\r' }

// begin returns the position of the record's value, wherever it stands.
func (s *scanner) begin() int {
	if bytes.HasPrefix(s.buf, []byte(byteOrderMark)) {
		s.refuse("byte 0: a byte order mark in front of the value")
		s.checkUTF8()
		return -1
	}
	p := s.space(0)
	if p == s.end {
		return s.refuse("blank value")
	}
	return p
}

// finish checks that nothing but space stands behind the record's value, which ends at p, or is at fault when p is negative.
func (s *scanner) finish(p int) bool {
	if p == s.end && s.high&highBits == 0 {
		return true
	}
	if p >= 0 {
		if p = s.space(p); p != s.end {
			p = s.refuse("byte %d: %s behind the end of the value", p, s.found(p))
		}
	}
	return s.checkUTF8() && p >= 0
}

// checkUTF8 refuses a record that is not UTF-8, whatever else is wrong with it. Outside of strings only ASCII passes, so that
// good records of ASCII strings need no check of their own.
func (s *scanner) checkUTF8() bool {
	record := s.buf[:s.end]
	if utf8.Valid(record) {
		return true
	}
	s.refuse("byte %d: invalid UTF-8", invalidByte(record))
	return false
}

func invalidByte(b []byte) int {
	at := 0
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// refuse sets the reason of a record that is at fault as a whole.
func (s *scanner) refuse(format string, args ...any) int {
	s.reason = fmt.Sprintf(format, args...)
	s.broken = true
	return -1
}

func (s *scanner) expected(p int, what string) int {
	return s.refuse("byte %d: expected %s, found %s", p, what, s.found(p))
}

func (s *scanner) found(p int) string {
	if p >= s.end {
		return "the end of the record"
	}
	r, _ := utf8.DecodeRune(s.buf[p:s.end])
	if r < ' ' || r == utf8.RuneError {
		return fmt.Sprintf("byte 0x%02x", s.buf[p])
	}
	return fmt.Sprintf("%q", string(r))
}

func (s *scanner) space(p int) int {
	for s.buf[p] <= ' ' && isSpace(s.buf[p]) && p < s.end {
		p++
	}
	return p
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// word returns the eight bytes at p of a scanner's buffer, where p is a position of the record or the one behind it. It leaves
// out the check of bounds, which the padding makes superfluous and which would take longer than most of what is done with a
// word. The lowest byte is the first one: like Arrow's layout this wants a processor of little endian.
func word(buf []byte, p int) uint64 { return *(*uint64)(place(buf, p)) }

// byteAt is word for one byte.
func byteAt(buf []byte, p int) byte { return *(*byte)(place(buf, p)) }

// place points to a byte within b's capacity.
func place(b []byte, p int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), p) }

// special has the high bit of the lowest byte of w that is a quote, a backslash or a control character. Bits above that
// one mean nothing.
func special(w uint64) uint64 {
	quote := w ^ lowBits*0x02 // makes a quote a space, and leaves control characters below that
	slash := w ^ lowBits*'\\'
	return ((quote-lowBits*(' '+1))&^quote | (slash-lowBits)&^slash) & highBits
}

// plain returns the position of the first byte from p on that is a quote, a backslash or a control character.
func (s *scanner) plain(p int) int {
	high := s.high
	for {
		w := word(s.buf, p)
		high |= w
		if m := special(w); m != 0 {
			s.high = high
			return p + bits.TrailingZeros64(m)>>3
		}
		p += 8
	}
}

// skip checks the value at p, perhaps with space in front, against the grammar.
func (s *scanner) skip(p int) int {
	switch c := s.buf[p]; c {
	case '"':
		return s.skipString(p)
	case '{':
		return s.skipObject(p)
	case '[':
		return s.skipArray(p)
	case 't':
		return s.literal(p, "true")
	case 'f':
		return s.literal(p, "false")
	case 'n':
		return s.literal(p, "null")
	default:
		if c == '-' || isDigit(c) {
			return s.number(p)
		}
		if q := s.space(p); q > p {
			return s.skip(q)
		}
		return s.expected(p, "a value")
	}
}

func (s *scanner) literal(p int, word string) int {
	if string(s.buf[p:p+len(word)]) == word {
		return p + len(word)
	}
	return s.notLiteral(p, word)
}

func (s *scanner) notLiteral(p int, word string) int {
	return s.refuse("byte %d: expected %s", p, word)
}

func (s *scanner) number(p int) int {
	q := numberEnd(s.buf, p)
	if q < 0 {
		return s.refuse("byte %d: malformed number", p)
	}
	return q
}

func (s *scanner) enter(p int) bool {
	s.depth++
	return s.depth <= MaxDepth || s.tooDeep(p)
}

func (s *scanner) tooDeep(p int) bool {
	s.refuse("byte %d: nested more than %d deep", p, MaxDepth)
	return false
}

func (s *scanner) skipArray(p int) int {
	if !s.enter(p) {
		return -1
	}
	p, more := s.first(p, ']')
	for more {
		if p = s.skip(p); p < 0 {
			return p
		}
		p, more = s.next(p, ']')
	}
	return p
}

// first reads the opening bracket at p and returns the position of the first element or field, or the one behind the closing
// bracket if there is none.
func (s *scanner) first(p int, closing byte) (int, bool) {
	if p = s.space(p + 1); s.buf[p] != closing {
		return p, true
	}
	s.depth--
	return p + 1, false
}

// next reads what stands behind an element or a field that ends at p: a comma, behind which it returns the position of the
// next one, or the closing bracket.
func (s *scanner) next(p int, closing byte) (int, bool) {
	p = s.space(p)
	switch s.buf[p] {
	case ',':
		return s.space(p + 1), true
	case closing:
		s.depth--
		return p + 1, false
	default:
		return s.noNext(p, closing), false
	}
}

func (s *scanner) noNext(p int, closing byte) int {
	return s.expected(p, "',' or '"+string(closing)+"'")
}

func (s *scanner) skipObject(p int) int {
	if !s.enter(p) {
		return -1
	}
	p, more := s.first(p, '}')
	for more {
		if s.buf[p] != '"' {
			return s.expected(p, "a field name")
		}
		if p = s.skipString(p); p < 0 {
			return p
		}
		if p = s.colon(p); p < 0 {
			return p
		}
		if p = s.skip(p); p < 0 {
			return p
		}
		p, more = s.next(p, '}')
	}
	return p
}

// colon reads the colon behind a field name and returns the position of the value.
func (s *scanner) colon(p int) int {
	p = s.space(p)
	if s.buf[p] != ':' {
		return s.expected(p, "':' behind a field name")
	}
	return s.space(p + 1)
}
