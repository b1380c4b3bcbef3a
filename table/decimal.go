package table

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Decimal is an exact decimal number: Unscaled / 10^Scale.
type Decimal struct {
	Unscaled decimal128.Num
	Scale    int
}

// appendDecimal appends a decimal with all of its digits: 1.230 for 1230 at scale 3.
func appendDecimal(b []byte, unscaled decimal128.Num, scale int) []byte {
	v := unscaled.BigInt()
	if v.Sign() < 0 {
		b = append(b, '-')
		v = new(big.Int).Abs(v)
	}
	digits := v.Append(nil, 10)
	if scale == 0 {
		return append(b, digits...)
	}
	for len(digits) <= scale {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - scale
	b = append(b, digits[:point]...)
	b = append(b, '.')
	return append(b, digits[point:]...)
}

var (
	errNoNumber  = errors.New("it is not a decimal number")
	errNotFitted = errors.New("its digits do not fit into the type")
)

// parseDecimal reads a decimal number, with or without exponent, exactly into the scale.
func parseDecimal(s string, scale int) (Value, error) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(s[i+1:]); err != nil {
			return nil, errNoNumber
		}
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	unscaled, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || strings.ContainsAny(fraction, "+-_") || strings.Contains(whole, "_") || len(s) > 100 || exponent < -100 || exponent > 100 {
		return nil, errNoNumber
	}
	shift := exponent - len(fraction) + scale
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift >= 0 {
		unscaled.Mul(unscaled, power)
	} else {
		var rest big.Int
		if unscaled.QuoRem(unscaled, power, &rest); rest.Sign() != 0 {
			return nil, errNotFitted
		}
	}
	if unscaled.BitLen() > 127 {
		return nil, errNotFitted
	}
	return Decimal{decimal128.FromBigInt(unscaled), scale}, nil
}

// outwards is a number that is further from the others, by as much as a double may miss it; ok is false if there is none of the type.
func (d Decimal) outwards(sign int64) (further Value, ok bool) {
	v := d.Unscaled.BigInt()
	miss := new(big.Int).Rsh(new(big.Int).Abs(v), 52)
	if v.Add(v, miss.Mul(miss, big.NewInt(sign))); v.BitLen() > 127 {
		return nil, false
	}
	return Decimal{decimal128.FromBigInt(v), d.Scale}, true
}
