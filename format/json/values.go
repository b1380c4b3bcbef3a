package json

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"math/bits"

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

func (d *Decoder) boolean(t *taker, p int) int {
	w := word(d.buf, p)
	switch {
	case uint32(w) == trueWord:
		t.col.appendBool(true)
		return p + 4
	case w&(1<<40-1) == falseWord:
		t.col.appendBool(false)
		return p + 5
	case byte(w) == 't':
		return d.notLiteral(p, "true")
	case byte(w) == 'f':
		return d.notLiteral(p, "false")
	default:
		return d.unlike(t, p)
	}
}

// integer reads a number into a column of whole numbers.
func (d *Decoder) integer(t *taker, p int) int {
	first := p
	if byteAt(d.buf, p) == '-' {
		first++
	}
	v, n := leadingDigits(word(d.buf, first))
	if n == 8 {
		if more, m := leadingDigits(word(d.buf, first+8)); uint(m-1) < 7 { // without a call for what two words hold
			v, n = v*powers[m&7]+more, 8+m
		} else if v, n = moreDigits(d.buf, first, v); n > maxIntegerDigits || v > math.MaxInt64 {
			return d.numeric(t, p)
		}
	}
	q := first + n
	if n == 0 || byteAt(d.buf, first) == '0' && n > 1 || isFraction(byteAt(d.buf, q)) {
		return d.numeric(t, p)
	}
	w := int64(v)
	if first > p {
		w = -w
	}
	c := t.col
	switch {
	case c.width == 8:
		c.append64(uint64(w))
	case c.width == 4 && int64(int32(w)) == w:
		c.append32(uint32(w))
	case c.width < 4 && inRange(c, w):
		c.appendBits(uint64(w))
	default:
		return d.numeric(t, p)
	}
	return q
}

// double reads a number into a column of doubles. What is short it reads as short does, but without passing on its parts.
func (d *Decoder) double(t *taker, p int) int {
	first := p
	if byteAt(d.buf, p) == '-' {
		first++
	}
	v, n := leadingDigits(word(d.buf, first))
	q := first + n
	if uint(n-1) >= 7 || byteAt(d.buf, first) == '0' && n > 1 {
		return d.numeric(t, p)
	}
	decimals := 0
	if byteAt(d.buf, q) == '.' {
		var fraction uint64
		if fraction, decimals = leadingDigits(word(d.buf, q+1)); decimals == 8 {
			fraction, decimals = moreDigits(d.buf, q+1, fraction)
		}
		if uint(decimals-1) >= uint(maxShortDigits-n) {
			return d.numeric(t, p)
		}
		v = v*powers[decimals] + fraction
		q += 1 + decimals
	}
	if isFraction(byteAt(d.buf, q)) || v > maxExactDigits64 {
		return d.numeric(t, p)
	}
	f := float64(int64(v)) / exactPowers[decimals]
	if first > p {
		f = -f
	}
	t.col.append64(math.Float64bits(f))
	return q
}

// numeric reads a number into a column of numbers of any kind.
func (d *Decoder) numeric(t *taker, p int) int {
	if d.buf[p] != '-' && !isDigit(d.buf[p]) {
		return d.unlike(t, p)
	}
	if n, q := d.short(p); q >= 0 && n.append(t.col) {
		return q
	}
	q := d.number(p)
	if q < 0 {
		return q
	}
	if reason := appendNumber(t.col, d.buf[p:q]); reason != "" {
		return d.misfit(reason)
	}
	return q
}

func inRange(c *column, v int64) bool {
	shift := 64 - 8*c.width
	return v<<shift>>shift == v
}

// decimal reads a number, or a string that holds one, since a string is how exact numbers travel in JSON.
func (d *Decoder) decimal(t *taker, p int) int {
	if d.buf[p] != '"' {
		return d.numeric(t, p)
	}
	text, q := d.str(p)
	if q < 0 {
		return q
	}
	if !isNumber(text) {
		return d.misfit(fmt.Sprintf("%q is not a number", excerpt(text)))
	}
	if reason := appendNumber(t.col, text); reason != "" {
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
func (d *Decoder) string(t *taker, p int) int {
	if byteAt(d.buf, p) != '"' {
		return d.otherText(t, p)
	}
	p++
	c := t.col
	at, n := len(c.data), 0
	if room := cap(c.data) - at; room >= copyStep { // without which there might be nothing to point to
		n = copyPlain(place(c.data, at), place(d.buf, p), room)
	}
	if byteAt(d.buf, p+n) != '"' {
		return d.unusualText(t, p, p+n)
	}
	at += n
	c.data = c.data[:at]
	c.offsets = append(c.offsets, int32(at))
	c.n++
	return p + n + 1
}

// coded is string for a column with a dictionary: it looks for the text up to the first quote among those that stand in records as they are.
// Of what length it is decides nothing on the way, since processors would not foresee that.
func (d *Decoder) coded(t *taker, p int) int {
	if byteAt(d.buf, p) != '"' {
		return d.otherText(t, p)
	}
	p++
	head, next := word(d.buf, p), word(d.buf, p+8)
	inHead, inNext := quotes(head), quotes(next)
	none := uint64(int64(inHead>>1-1) >> 63) // all bits if head has no quote
	head &= inHead ^ (inHead - 1)            // up to the quote, with it
	next &= (inNext ^ (inNext - 1)) & none
	c := t.col
	hash := textHash(head, next)
	slot := &c.dict.slots[hash%textSlots]
	if slot.head != head || slot.next != next || !slot.asIs {
		return d.longCoded(t, p, hash)
	}
	c.append32(uint32(slot.number))
	// Not by the slot's size: the next value need not wait until the slot is there.
	return p + bits.TrailingZeros64(inHead|inNext&none)>>3 + 8&int(none) + 1
}

// longCoded is coded for a text that is not among the short ones: it looks for the long one that was new last with such a beginning.
func (d *Decoder) longCoded(t *taker, p int, hash uint64) int {
	if number := t.col.dict.long[hash%longSlots] - 1; number >= 0 {
		text := t.col.dict.at(number)
		if end := p + len(text); end < d.end && d.buf[end] == '"' && string(d.buf[p:end]) == string(text) {
			t.col.append32(uint32(number))
			return end + 1
		}
	}
	return d.unusualText(t, p, p)
}

// spell makes the taker's column a plain one.
func (d *Decoder) spell(t *taker) {
	t.col.spell()
	t.take = (*Decoder).string
	d.schema = nil
}

// otherText appends the bytes of what is no string.
func (d *Decoder) otherText(t *taker, p int) int {
	if p = d.space(p); d.buf[p] == '"' {
		return t.take(d, t, p)
	}
	if d.buf[p] == 'n' {
		return d.null(t, p)
	}
	return d.recordText(t, p)
}

// unusualText appends the string that begins at p and is plain up to q, where it does not end: it has other characters than those of
// ASCII, escapes, or more bytes than were looked at or than the column had room for.
func (d *Decoder) unusualText(t *taker, p, q int) int {
	q = d.plain(q)
	if d.buf[q] == '"' {
		d.appendText(t, d.buf, p, q)
		return q + 1
	}
	text, q := d.unescape(p, q)
	if q >= 0 {
		d.text = append(text, make([]byte, padding)...)
		d.appendText(t, d.text, 0, len(text))
	}
	return q
}

// recordText appends the bytes that the value at p is written in.
func (d *Decoder) recordText(t *taker, p int) int {
	q := d.skip(p)
	if q >= 0 {
		d.appendText(t, d.buf, p, q)
	}
	return q
}

// appendText appends the text from p to q of a buffer that is padded as a scanner's is, whether the column is coded or not.
func (d *Decoder) appendText(t *taker, buf []byte, p, q int) {
	if t.col.dict != nil {
		if number := t.col.dict.number(buf, p, q-p); number >= 0 {
			t.col.append32(uint32(number))
			return
		}
		d.spell(t)
	}
	t.col.appendBytes(buf[p:q])
}

func (d *Decoder) binary(t *taker, p int) int {
	if d.buf[p] != '"' {
		return d.unlike(t, p)
	}
	text, q := d.str(p)
	if q < 0 {
		return q
	}
	if reason := appendBase64(t.col, text); reason != "" {
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
	if byteAt(d.buf, p) != '"' {
		return d.unlike(t, p)
	}
	at, n := d.calendar.usual(d.buf, p+1)
	if n > 0 && !(at.zoned && t.op == takeTimestampNTZ) {
		t.col.append64(uint64(at.micros))
		return p + 1 + n
	}
	return d.instantText(t, p)
}

func (d *Decoder) date(t *taker, p int) int {
	if d.buf[p] != '"' {
		return d.unlike(t, p)
	}
	return d.instantText(t, p)
}

// instantText reads the string at p as a date or a timestamp.
func (d *Decoder) instantText(t *taker, p int) int {
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
