package json

import (
	"math"
	"math/bits"

	"github.com/sluicedata/sluice/schema"
)

// maxShortDigits is the number of digits that always fit 64 bits, with a sign.
const maxShortDigits = 18

// short is a number as nearly all are: without an exponent and with at most maxShortDigits digits. Its value is digits ×
// 10^-decimals, negated if negative.
type short struct {
	negative bool
	digits   uint64
	decimals int
}

// short reads the number at p if it is short, and returns a negative position if it is another one, or no number.
func (s *scanner) short(p int) (n short, end int) {
	if n.negative = byteAt(s.buf, p) == '-'; n.negative {
		p++
	}
	first := p
	v, count := digits(s.buf, p)
	n.digits, p = v, p+count
	if count == 0 || count > 1 && byteAt(s.buf, first) == '0' {
		return n, -1
	}
	if byteAt(s.buf, p) == '.' {
		fraction, count := digits(s.buf, p+1)
		if count == 0 || count > maxShortDigits {
			return n, -1
		}
		n.digits, n.decimals, p = n.digits*powers[count]+fraction, count, p+1+count
	}
	if count+n.decimals > maxShortDigits || isFraction(byteAt(s.buf, p)) {
		return n, -1
	}
	return n, p
}

// digits reads the decimal digits from p on and returns their value and number. Without any, and beyond 64 bits, the value means
// nothing.
func digits(b []byte, p int) (v uint64, n int) {
	if v, n = leadingDigits(word(b, p)); n == 8 {
		return moreDigits(b, p, v)
	}
	return v, n
}

// moreDigits is digits where the first eight have the value v.
func moreDigits(b []byte, p int, v uint64) (_ uint64, n int) {
	for n = 8; ; n += 8 {
		w, more := leadingDigits(word(b, p+n))
		if more == 0 {
			return v, n
		}
		v = v*powers[more&15] + w
		if more < 8 {
			return v, n + more
		}
	}
}

// isFraction says whether a number whose digits end in front of c goes on.
func isFraction(c byte) bool { return c == '.' || c|0x20 == 'e' }

// leadingDigits returns the value and the number of the digits that eight bytes begin with, in a few steps on all of them at
// once, since a loop ends at another length for every number, which processors don't foresee. The value of none means nothing.
func leadingDigits(w uint64) (value uint64, n int) {
	w ^= lowBits * '0'
	other := (w + lowBits*(0x80-10) | w) & highBits // right up to the first byte that is no digit
	n = bits.TrailingZeros64(other) >> 3
	w <<= -8 * n & 63 // zeros in front
	w = w*10 + w>>8
	w = (w&0x000000FF000000FF*(100+1_000_000<<32) + w>>16&0x000000FF000000FF*(1+10_000<<32)) >> 32
	return w, n
}

// powers has the powers of ten that fit 64 bits.
var powers = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// exactPowers has those that shorts may have, which doubles hold exactly.
var exactPowers = [maxShortDigits + 1]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// maxIntegerDigits is the number of digits of the largest 64-bit integers; that many always fit 64 bits without a sign.
const maxIntegerDigits = 19

// Up to these bounds digits and powers of ten are exact in floating point, and one division of them rounds once.
const (
	maxExactDigits64              = 1 << 53
	maxExactDigits32, maxPowers32 = 1 << 24, 10
)

// append appends the number to a column of numbers, unless it takes more to say whether and how it fits.
func (n short) append(c *column) bool {
	switch c.typ.Kind {
	case schema.Double:
		if n.digits > maxExactDigits64 {
			return false
		}
		v := float64(n.digits) / exactPowers[n.decimals]
		if n.negative {
			v = -v
		}
		c.appendBits(math.Float64bits(v))
	case schema.Float:
		if n.digits > maxExactDigits32 || n.decimals > maxPowers32 {
			return false
		}
		v := float32(n.digits) / float32(powers[n.decimals])
		if n.negative {
			v = -v
		}
		c.appendBits(uint64(math.Float32bits(v)))
	case schema.Decimal:
		return n.appendDecimal(c)
	default:
		v := int64(n.digits)
		if n.negative {
			v = -v
		}
		if n.decimals > 0 || !inRange(c, v) {
			return false
		}
		c.appendBits(uint64(v))
	}
	return true
}

func (n short) appendDecimal(c *column) bool {
	zeros := c.typ.Scale - n.decimals
	if zeros < 0 || zeros >= len(powers) {
		return false
	}
	more, lo := bits.Mul64(n.digits, powers[zeros])
	if more > 0 || c.typ.Precision < len(powers) && lo >= powers[c.typ.Precision] {
		return false
	}
	hi := int64(0)
	if n.negative && lo > 0 {
		hi, lo = -1, -lo
	}
	c.append128(hi, lo)
	return true
}
