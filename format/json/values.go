package json

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"

	"github.com/sluicedata/sluice/schema"
)

// excerptBytes bounds the part of a value that a reason shows.
const excerptBytes = 64

func excerpt(text []byte) string {
	if len(text) > excerptBytes {
		return string(bytes.ToValidUTF8(text[:excerptBytes], nil)) + "…"
	}
	return string(text)
}

func (d *Decoder) boolean(c *column, p int) int {
	switch d.buf[p] {
	case 't':
		if p = d.literal(p, "true"); p >= 0 {
			c.appendBool(true)
		}
	case 'f':
		if p = d.literal(p, "false"); p >= 0 {
			c.appendBool(false)
		}
	default:
		return d.mismatch(p, "boolean")
	}
	return p
}

// numeric reads a number into a column of numbers of any kind.
func (d *Decoder) numeric(c *column, p int) int {
	if n, q := d.short(p); q >= 0 && n.append(c) {
		return q
	}
	text, q := d.numberText(c, p)
	if q < 0 {
		return q
	}
	if reason := appendNumber(c, text); reason != "" {
		return d.misfit(reason)
	}
	return q
}

// numberText returns the text of the number at p.
func (d *Decoder) numberText(c *column, p int) ([]byte, int) {
	if d.buf[p] != '-' && !isDigit(d.buf[p]) {
		return nil, d.mismatch(p, c.typ.String())
	}
	q := d.number(p)
	if q < 0 {
		return nil, q
	}
	return d.buf[p:q], q
}

func inRange(c *column, v int64) bool {
	shift := 64 - 8*c.width
	return v<<shift>>shift == v
}

// decimal reads a number, or a string that holds one, since a string is how exact numbers travel in JSON.
func (d *Decoder) decimal(c *column, p int) int {
	if d.buf[p] != '"' {
		return d.numeric(c, p)
	}
	text, q := d.str(p)
	if q < 0 {
		return q
	}
	if !isNumber(text) {
		return d.misfit(fmt.Sprintf("%q is not a number", excerpt(text)))
	}
	if reason := appendNumber(c, text); reason != "" {
		return d.misfit(reason)
	}
	return q
}

// appendNumber appends a text that is a JSON number to a column of numbers, or returns why it can't.
func appendNumber(c *column, text []byte) string {
	f := exact
	switch c.typ.Kind {
	case schema.Double:
		v, ok := double(text)
		if ok {
			c.appendBits(math.Float64bits(v))
			return ""
		}
		f = overflow
	case schema.Float:
		v, ok := single(text)
		if ok {
			c.appendBits(uint64(math.Float32bits(v)))
			return ""
		}
		f = overflow
	case schema.Decimal:
		var hi int64
		var lo uint64
		if hi, lo, f = split(text).decimal(c.typ.Precision, c.typ.Scale); f == exact {
			c.append128(hi, lo)
			return ""
		}
	default:
		var v int64
		if v, f = split(text).integer(); f == exact && inRange(c, v) {
			c.appendBits(uint64(v))
			return ""
		}
	}
	if f != fraction {
		return fmt.Sprintf("%s does not fit %s", excerpt(text), c.typ)
	}
	if c.typ.Kind == schema.Decimal {
		return fmt.Sprintf("%s has more than %d fraction digits and does not fit %s", excerpt(text), c.typ.Scale, c.typ)
	}
	return fmt.Sprintf("%s is not a whole number, as %s wants it", excerpt(text), c.typ)
}

// string reads a string as its text, and any other value as the bytes it is written in.
func (d *Decoder) string(c *column, p int) int {
	if d.buf[p] != '"' {
		return d.recordText(c, p)
	}
	data, q := d.appendPlain(c.data, p+1)
	if d.buf[q] == '"' {
		c.data = data
		c.closeBytes()
		return q + 1
	}
	text, q := d.unescape(p+1, q)
	if q >= 0 {
		c.appendBytes(text)
	}
	return q
}

// recordText appends the bytes that the value at p is written in.
func (d *Decoder) recordText(c *column, p int) int {
	q := d.skip(p)
	if q >= 0 {
		c.appendBytes(d.buf[p:q])
	}
	return q
}

func (d *Decoder) binary(c *column, p int) int {
	if d.buf[p] != '"' {
		return d.mismatch(p, "binary (base64 text)")
	}
	text, q := d.str(p)
	if q < 0 {
		return q
	}
	if reason := appendBase64(c, text); reason != "" {
		return d.misfit(reason)
	}
	return q
}

// base64Text is RFC 4648, section 4, with padding and zero bits behind the last byte, so that every value has one text.
var base64Text = base64.StdEncoding.Strict()

func appendBase64(c *column, text []byte) string {
	if bytes.ContainsAny(text, "\r\n") {
		return "a line break in base64 text"
	}
	data, err := base64Text.AppendDecode(c.data, text)
	if err != nil {
		return fmt.Sprintf("%q is not base64 text with padding", excerpt(text))
	}
	c.data = data
	c.closeBytes()
	return ""
}

// timestamp reads a timestamp of either kind.
func (d *Decoder) timestamp(t *taker, p int) int {
	if d.buf[p] == '"' {
		at, n := d.calendar.usual(d.buf[p+1:])
		if n > 0 && !(at.zoned && t.op == takeTimestampNTZ) {
			t.col.appendBits(uint64(at.micros))
			return p + 1 + n
		}
	}
	return d.instantText(t, p)
}

func (d *Decoder) instantText(t *taker, p int) int {
	if d.buf[p] != '"' {
		expected := t.col.typ.String() + " (RFC 3339 text; for numbers declare the column long)"
		if t.op == takeDate {
			expected = "date (yyyy-MM-dd text)"
		}
		return d.mismatch(p, expected)
	}
	text, q := d.str(p)
	if q < 0 {
		return q
	}
	if reason := d.appendInstant(t.col, text); reason != "" {
		return d.misfit(reason)
	}
	return q
}

// appendInstant appends a date or a timestamp, or returns why it can't.
func (d *Decoder) appendInstant(c *column, text []byte) string {
	date := c.typ.Kind == schema.Date
	if date {
		if day := d.calendar.day(text); day != noDay {
			c.appendBits(uint64(day))
			return ""
		}
	}
	at, reason := d.calendar.instant(text)
	switch {
	case reason != "":
		return fmt.Sprintf("%q is not a %s: %s", excerpt(text), c.typ, reason)
	case date:
		c.appendBits(uint64(floorDay(at.micros)))
	case c.typ.Kind == schema.TimestampNTZ && at.zoned:
		return fmt.Sprintf("%q has a zone, and %s is without", excerpt(text), c.typ)
	default:
		c.appendBits(uint64(at.micros))
	}
	return ""
}
