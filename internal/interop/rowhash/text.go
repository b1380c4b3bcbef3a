package rowhash

import (
	"math"
	"math/big"
	"strconv"
)

// Separator stands between the columns of a row.
const Separator = 0x1f

const (
	nullText     = '~'
	quietNaN32   = 0x7fc00000
	quietNaN64   = 0x7ff8000000000000
	decimalScale = 's'
)

// AppendNull appends the text of a null of any type.
func AppendNull(b []byte) []byte { return append(b, nullText) }

// AppendBool appends the text of a boolean.
func AppendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendInt appends the text of an integer, a date in days or a timestamp in microseconds.
func AppendInt(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }

// AppendDouble appends the text of a double: its bits.
func AppendDouble(b []byte, v float64) []byte {
	word := math.Float64bits(v)
	if v != v {
		word = quietNaN64
	}
	return strconv.AppendInt(b, int64(word), 10)
}

// AppendFloat appends the text of a float: its bits.
func AppendFloat(b []byte, v float32) []byte {
	word := math.Float32bits(v)
	if v != v {
		word = quietNaN32
	}
	return strconv.AppendInt(b, int64(int32(word)), 10)
}

// AppendDecimal appends the text of unscaled / 10^scale.
func AppendDecimal(b []byte, unscaled *big.Int, scale int32) []byte {
	b = unscaled.Append(b, 10)
	b = append(b, decimalScale)
	return strconv.AppendInt(b, int64(scale), 10)
}

// AppendString appends the text of a string's or a binary's bytes.
func AppendString[T string | []byte](b []byte, v T) []byte {
	b = strconv.AppendInt(b, int64(len(v)), 10)
	b = append(b, ':')
	return append(b, v...)
}
