package schema

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

var (
	errNoNumber  = errors.New("it is not a decimal number")
	errNotFitted = errors.New("its digits do not fit into the type")
)

// ParseDecimal reads a decimal number, with or without exponent, exactly: it returns the number times 10^scale, of at most 127
// bits.
func ParseDecimal(s string, scale int) (*big.Int, error) {
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
	return unscaled, nil
}
