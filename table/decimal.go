package table

import (
	"math/big"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/sluicedata/sluice/schema"
)

// Decimal is an exact decimal number: Unscaled / 10^Scale.
type Decimal struct {
	Unscaled decimal128.Num
	Scale    int
}

// String has all digits: 1.230 for 1230 at scale 3.
func (d Decimal) String() string { return string(appendDecimal(nil, d.Unscaled, d.Scale)) }

// appendDecimal appends a decimal as Decimal.String has it.
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

// parseDecimal reads a decimal number exactly into the scale.
func parseDecimal(s string, scale int) (Value, error) {
	unscaled, err := schema.ParseDecimal(s, scale)
	if err != nil {
		return nil, err
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
