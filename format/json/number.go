package json

import (
	"math/bits"
	"strconv"
	"unsafe"
)

func isDigit(c byte) bool { return c-'0' <= 9 }

// numberEnd returns the end of the JSON number that begins at b[p], or a negative number when there is none.
func numberEnd(b []byte, p int) int {
	if p < len(b) && b[p] == '-' {
		p++
	}
	from := p
	p = digitsEnd(b, p)
	if p == from || b[from] == '0' && p > from+1 {
		return -1
	}
	if p < len(b) && b[p] == '.' {
		from = p + 1
		if p = digitsEnd(b, from); p == from {
			return -1
		}
	}
	if p < len(b) && b[p]|0x20 == 'e' {
		from = p + 1
		if from < len(b) && (b[from] == '+' || b[from] == '-') {
			from++
		}
		if p = digitsEnd(b, from); p == from {
			return -1
		}
	}
	return p
}

func digitsEnd(b []byte, p int) int {
	for p < len(b) && isDigit(b[p]) {
		p++
	}
	return p
}

// isNumber says whether all of the text is one JSON number.
func isNumber(text []byte) bool { return len(text) > 0 && numberEnd(text, 0) == len(text) }

// number is a JSON number taken apart: its value is digits × 10^exp, and the digits neither begin nor end with 0. Zero has
// no digits.
type number struct {
	negative bool
	digits   []byte // with a point somewhere in between, perhaps
	count    int64  // of digits
	exp      int64
}

// maxExponent bounds exponents; behind it every number other than zero is out of any type's range.
const maxExponent = 1 << 40

// split takes apart a text that is a JSON number.
func split(text []byte) number {
	var n number
	if text[0] == '-' {
		n.negative = true
		text = text[1:]
	}
	mantissa := text
	for i, c := range text {
		if c|0x20 == 'e' {
			mantissa = text[:i]
			n.exp = exponent(text[i+1:])
			break
		}
	}
	point := len(mantissa)
	for i, c := range mantissa {
		if c == '.' {
			point = i
		}
	}
	if point < len(mantissa) {
		n.exp -= int64(len(mantissa) - point - 1)
	}
	return n.trim(mantissa, point)
}

// trim sets the digits to the mantissa, whose point is at the given index, without zeros at either end.
func (n number) trim(mantissa []byte, point int) number {
	from, to := 0, len(mantissa)
	for from < to && (mantissa[from] == '0' || mantissa[from] == '.') {
		from++
	}
	for to > from && (mantissa[to-1] == '0' || mantissa[to-1] == '.') {
		if mantissa[to-1] == '0' {
			n.exp++
		}
		to--
	}
	n.digits = mantissa[from:to]
	n.count = int64(to - from)
	if from < point && point < to {
		n.count--
	}
	return n
}

func exponent(text []byte) int64 {
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	var e int64
	for _, c := range text {
		if e < maxExponent {
			e = e*10 + int64(c-'0')
		}
	}
	if negative {
		return -e
	}
	return e
}

// fit tells how a number goes into an exact type.
type fit int

const (
	exact    fit = iota
	fraction     // it has digits behind the last one that the type holds
	overflow     // it has digits in front of the first one that the type holds
)

// scaled returns the magnitude of n × 10^scale as a 128-bit integer of at most 38 digits.
func (n number) scaled(scale, precision int) (hi, lo uint64, f fit) {
	if n.count == 0 {
		return 0, 0, exact
	}
	zeros := n.exp + int64(scale)
	if zeros < 0 {
		return 0, 0, fraction
	}
	if n.count+zeros > int64(precision) {
		return 0, 0, overflow
	}
	for _, c := range n.digits {
		if c != '.' {
			hi, lo = timesTen(hi, lo, uint64(c-'0'))
		}
	}
	for ; zeros > 0; zeros-- {
		hi, lo = timesTen(hi, lo, 0)
	}
	return hi, lo, exact
}

func timesTen(hi, lo, digit uint64) (uint64, uint64) {
	carry, low := bits.Mul64(lo, 10)
	low, more := bits.Add64(low, digit, 0)
	return hi*10 + carry + more, low
}

// integer returns the value of n when it is an integer of 64 bits.
func (n number) integer() (int64, fit) {
	_, magnitude, f := n.scaled(0, 19)
	switch {
	case f != exact:
		return 0, f
	case n.negative && magnitude <= 1<<63:
		return -int64(magnitude), exact
	case !n.negative && magnitude < 1<<63:
		return int64(magnitude), exact
	default:
		return 0, overflow
	}
}

// decimal returns n × 10^scale as a signed 128-bit integer, when it is one of at most precision digits.
func (n number) decimal(precision, scale int) (hi int64, lo uint64, f fit) {
	h, lo, f := n.scaled(scale, precision)
	if n.negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		h, _ = bits.Sub64(0, h, borrow)
	}
	return int64(h), lo, f
}

// double returns the double nearest to a text that is a JSON number, and whether there is a finite one.
func double(text []byte) (float64, bool) {
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	return v, err == nil
}

// single is double for 32 bits: nearest to the digits, not to the double nearest to them.
func single(text []byte) (float32, bool) {
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 32)
	return float32(v), err == nil
}
