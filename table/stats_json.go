package table

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// render returns the statistics as the text of add.stats. Keys without a value are left out: nulls in there break readers.
func (s *stats) render() string {
	b := []byte(`{"numRecords":`)
	b = strconv.AppendInt(b, s.rows, 10)
	b = s.section(b, "minValues", func(b []byte, c *columnStats) ([]byte, bool) {
		if c.bounds == nil {
			return b, false
		}
		return c.bounds.low(b, s.prefix)
	})
	b = s.section(b, "maxValues", func(b []byte, c *columnStats) ([]byte, bool) {
		if c.bounds == nil {
			return b, false
		}
		return c.bounds.high(b, s.prefix)
	})
	b = s.section(b, "nullCount", func(b []byte, c *columnStats) ([]byte, bool) {
		return strconv.AppendInt(b, c.nulls, 10), true
	})
	return string(append(b, `,"tightBounds":true}`...))
}

// section appends one object with a value for each column that has one.
func (s *stats) section(b []byte, name string, value func([]byte, *columnStats) ([]byte, bool)) []byte {
	b = append(b, `,"`+name+`":`...)
	members, any := appendMembers(b, s.columns, value)
	if !any {
		return append(b, "{}"...)
	}
	return members
}

func appendMembers(b []byte, columns []*columnStats, value func([]byte, *columnStats) ([]byte, bool)) ([]byte, bool) {
	start := len(b)
	b = append(b, '{')
	for _, c := range columns {
		before := len(b)
		if len(b) > start+1 {
			b = append(b, ',')
		}
		b = appendJSONString(b, c.column.stored)
		b = append(b, ':')
		var ok bool
		if c.children != nil {
			b, ok = appendMembers(b, c.children, value)
		} else {
			b, ok = value(b, c)
		}
		if !ok {
			b = b[:before]
		}
	}
	if len(b) == start+1 {
		return b[:start], false
	}
	return append(b, '}'), true
}

func appendInt(b []byte, v int64) ([]byte, bool) { return strconv.AppendInt(b, v, 10), true }

// appendDateJSON appends days since the epoch as "2006-01-02". Years that ISO 8601 has no four digits for are not told.
func appendDateJSON(b []byte, days int64) ([]byte, bool) {
	t := time.Unix(days*86400, 0).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return b, false
	}
	return t.AppendFormat(b, `"2006-01-02"`), true
}

// appendTimestampJSON appends milliseconds since the epoch as "2006-01-02T15:04:05.000Z".
func appendTimestampJSON(b []byte, millis int64) ([]byte, bool) {
	return appendMillis(b, millis, `"2006-01-02T15:04:05.000Z"`)
}

// appendTimestampNTZJSON does so without a zone.
func appendTimestampNTZJSON(b []byte, millis int64) ([]byte, bool) {
	return appendMillis(b, millis, `"2006-01-02T15:04:05.000"`)
}

func appendMillis(b []byte, millis int64, layout string) ([]byte, bool) {
	t := time.UnixMilli(millis).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return b, false
	}
	return t.AppendFormat(b, layout), true
}

// appendFloatJSON appends the shortest number that reads back as v, with a fraction so that no reader takes it for an
// integer. A float column's values are given as the doubles they equal.
func appendFloatJSON(b []byte, v float64) []byte {
	if abs := math.Abs(v); abs >= 1e-6 && abs < 1e21 {
		start := len(b)
		b = strconv.AppendFloat(b, v, 'f', -1, 64)
		for _, c := range b[start:] {
			if c == '.' {
				return b
			}
		}
		return append(b, ".0"...)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// appendJSONString appends valid UTF-8 as a JSON string, as short as it can be.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// minPrefix returns a text that is not greater than v, at most n UTF-16 units long. ok is false when v is not UTF-8.
func minPrefix(v []byte, n int) (text string, ok bool) {
	if !utf8.Valid(v) {
		return "", false
	}
	return string(v[:prefixBytes(v, n)]), true
}

// maxPrefix returns a text that is not less than v in the order of UTF-8 bytes: v itself when it has at most n UTF-16
// units, else a prefix with a tie breaker behind that is greater than the character it stands for. ok is false when
// there is none of at most 2n units, or v is not UTF-8.
func maxPrefix(v []byte, n int) (text string, ok bool) {
	if !utf8.Valid(v) {
		return "", false
	}
	for length := n; length <= 2*n; length++ {
		end := prefixBytes(v, length)
		if end == len(v) {
			return string(v), true
		}
		switch next, _ := utf8.DecodeRune(v[end:]); {
		case next < 0x7f:
			return string(v[:end]) + "\u007f", true
		case next < utf8.MaxRune:
			return string(v[:end]) + string(rune(utf8.MaxRune)), true
		}
	}
	return "", false
}

// beginning is as much of v as minPrefix and maxPrefix look at, for prefixes of n UTF-16 units.
func beginning(v []byte, n int) []byte {
	end := 3*2*n + utf8.UTFMax // a unit takes three bytes at most
	if len(v) <= end+utf8.UTFMax {
		return v
	}
	for back := end; back > end-utf8.UTFMax; back-- {
		if utf8.RuneStart(v[back]) {
			return v[:back]
		}
	}
	return v[:end]
}

// prefixBytes is the length in bytes of the longest prefix of at most n UTF-16 units.
func prefixBytes(v []byte, n int) int {
	end := 0
	for end < len(v) {
		r, size := utf8.DecodeRune(v[end:])
		if n--; r > 0xffff {
			n--
		}
		if n < 0 {
			return end
		}
		end += size
	}
	return end
}
