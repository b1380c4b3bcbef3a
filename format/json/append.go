package json

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/schema"
)

// AppendRow appends row i of a record as one JSON object, the way back of decoding: integers and decimals with all their
// digits, floats in their shortest form (NaN and the infinities, which JSON has no numbers for, as strings), timestamps
// and dates as RFC 3339 texts in UTC, binary in base64, maps as objects, variants as the JSON that they stand for. Nulls are written.
func AppendRow(dst []byte, rows arrow.Record, i int) []byte {
	dst = append(dst, '{')
	for c, column := range rows.Columns() {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, rows.ColumnName(c))
		dst = append(dst, ':')
		dst = appendValue(dst, column, i)
	}
	return append(dst, '}')
}

func appendValue(dst []byte, column arrow.Array, i int) []byte {
	if column.IsNull(i) {
		return append(dst, "null"...)
	}
	switch a := column.(type) {
	case *array.Null: // IsNull does not know
		return append(dst, "null"...)
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(i))
	case *array.Int8:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int16:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int32:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int64:
		return strconv.AppendInt(dst, a.Value(i), 10)
	case *array.Float32:
		return appendFloat(dst, float64(a.Value(i)), 32)
	case *array.Float64:
		return appendFloat(dst, a.Value(i), 64)
	case *array.Decimal128:
		return append(dst, a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)...)
	case *array.String:
		return appendText(dst, a.Value(i))
	case *array.Dictionary:
		return appendValue(dst, a.Dictionary(), a.GetValueIndex(i))
	case *array.Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, a.Value(i))
		return append(dst, '"')
	case *array.Date32:
		return a.Value(i).ToTime().AppendFormat(dst, `"2006-01-02"`)
	case *array.Timestamp:
		layout := `"2006-01-02T15:04:05.999999"`
		if a.DataType().(*arrow.TimestampType).TimeZone != "" {
			layout = `"2006-01-02T15:04:05.999999Z"`
		}
		return time.UnixMicro(int64(a.Value(i))).UTC().AppendFormat(dst, layout)
	default:
		return appendNested(dst, column, i)
	}
}

func appendNested(dst []byte, column arrow.Array, i int) []byte {
	switch a := column.(type) {
	case *array.Map: // before List, which it embeds
		from, to := a.ValueOffsets(i)
		dst = append(dst, '{')
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			dst = appendMapKey(dst, a.Keys(), int(j))
			dst = append(dst, ':')
			dst = appendValue(dst, a.Items(), int(j))
		}
		return append(dst, '}')
	case *array.List:
		from, to := a.ValueOffsets(i)
		dst = append(dst, '[')
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, a.ListValues(), int(j))
		}
		return append(dst, ']')
	case *array.Struct:
		dst = append(dst, '{')
		for f, field := range a.DataType().(*arrow.StructType).Fields() {
			if f > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, field.Name)
			dst = append(dst, ':')
			dst = appendValue(dst, a.Field(f), i)
		}
		return append(dst, '}')
	case *schema.VariantArray:
		metadata, value := a.Value(i)
		return appendVariant(dst, metadata, value)
	default:
		return appendText(dst, fmt.Sprintf("(no JSON form of Arrow type %s)", column.DataType()))
	}
}

// appendMapKey appends a map's key as a string.
func appendMapKey(dst []byte, keys arrow.Array, i int) []byte {
	text := appendValue(nil, keys, i)
	if text[0] == '"' {
		return append(dst, text...)
	}
	return appendText(dst, string(text))
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, bits)
}

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string. Bytes that are no UTF-8, which only foreign files can hold, become U+FFFD.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c < ' ' || c == '"' || c == '\\':
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
		}
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}
