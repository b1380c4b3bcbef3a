package json

import (
	"unicode/utf16"
	"unicode/utf8"
)

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\xEF\xBB\xBF"

// skipString checks the string whose opening quote is at p.
func (s *scanner) skipString(p int) int {
	p++
	for {
		p = s.plain(p)
		switch s.buf[p] {
		case '"':
			return p + 1
		case '\\':
			if p = s.skipEscape(p); p < 0 {
				return p
			}
		default:
			return s.badCharacter(p)
		}
	}
}

func (s *scanner) badCharacter(p int) int {
	if p >= s.end {
		return s.refuse("byte %d: the record ends inside a string", p)
	}
	return s.refuse("byte %d: control character 0x%02x in a string", p, s.buf[p])
}

// skipEscape checks the escape whose backslash is at p. A lone surrogate passes, unless surrogates are to be paired.
func (s *scanner) skipEscape(p int) int {
	switch s.buf[p+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return p + 2
	case 'u':
		if s.paired {
			s.text = s.text[:0]
			return s.escapedRune(p)
		}
		if s.hex4(p+2) < 0 {
			return s.refuse("byte %d: malformed \\u escape", p)
		}
		return p + 6
	default:
		return s.refuse("byte %d: unknown escape", p)
	}
}

// hex4 returns the value of four hexadecimal digits at p, or a negative number.
func (s *scanner) hex4(p int) rune {
	var r rune
	for _, c := range s.buf[p : p+4] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// str returns the text of the string whose opening quote is at p, valid until the next call, and the position behind it.
func (s *scanner) str(p int) ([]byte, int) {
	q := s.plain(p + 1)
	if s.buf[q] == '"' {
		return s.buf[p+1 : q], q + 1
	}
	return s.unescape(p+1, q)
}

// unescape decodes the string that begins at p and is plain up to q.
func (s *scanner) unescape(p, q int) ([]byte, int) {
	s.text = s.text[:0]
	for {
		s.text = append(s.text, s.buf[p:q]...)
		switch s.buf[q] {
		case '"':
			return s.text, q + 1
		case '\\':
			if p = s.escape(q); p < 0 {
				return nil, p
			}
		default:
			return nil, s.badCharacter(q)
		}
		q = s.plain(p)
	}
}

// escape appends what the escape at p stands for to text.
func (s *scanner) escape(p int) int {
	c := s.buf[p+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.escapedRune(p)
	default:
		return s.refuse("byte %d: unknown escape", p)
	}
	s.text = append(s.text, c)
	return p + 2
}

func (s *scanner) escapedRune(p int) int {
	r := s.hex4(p + 2)
	if r < 0 {
		return s.refuse("byte %d: malformed \\u escape", p)
	}
	if !utf16.IsSurrogate(r) {
		s.text = utf8.AppendRune(s.text, r)
		return p + 6
	}
	if s.buf[p+6] == '\\' && s.buf[p+7] == 'u' {
		pair := utf16.DecodeRune(r, s.hex4(p+8))
		if pair != utf8.RuneError {
			s.text = utf8.AppendRune(s.text, pair)
			return p + 12
		}
	}
	return s.refuse("byte %d: lone surrogate %s in a string", p, s.buf[p:p+6])
}
