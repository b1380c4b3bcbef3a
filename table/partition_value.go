package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/schema"
)

// checkPartitionType says why a table cannot be partitioned by a column of the type, or nil.
func checkPartitionType(name string, t *schema.Type) error {
	if t.Nested() || t.Kind == schema.Binary {
		return fmt.Errorf("partition by column %s: its type is %s, which cannot name a partition; use a column of another type", name, t)
	}
	return nil
}

// partitionText returns how a partition's value stands in the log (PROTOCOL.md, "Partition Value Serialization"); ok is
// false for null, as which an empty string counts too. A string's text is the array's memory.
func partitionText(t *schema.Type, values arrow.Array, i int) (text string, ok bool, err error) {
	if values == nil || values.IsNull(i) {
		return "", false, nil
	}
	switch a := values.(type) {
	case *array.String:
		if text = a.Value(i); !utf8.ValidString(text) {
			return "", false, fmt.Errorf("the string %q is not UTF-8", text)
		}
	case *array.Dictionary:
		return partitionText(t, a.Dictionary(), a.GetValueIndex(i))
	case *array.Boolean:
		text = strconv.FormatBool(a.Value(i))
	case *array.Int8:
		text = strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Int16:
		text = strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Int32:
		text = strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Int64:
		text = strconv.FormatInt(a.Value(i), 10)
	case *array.Float32:
		text = javaFloat(float64(a.Value(i)), 32)
	case *array.Float64:
		text = javaFloat(a.Value(i), 64)
	case *array.Decimal128:
		text = string(appendDecimal(nil, a.Value(i), t.Scale))
	case *array.Date32:
		text = dateText(int64(a.Value(i)))
	case *array.Timestamp:
		text = timestampText(int64(a.Value(i)), t.Kind)
	default:
		return "", false, fmt.Errorf("the type %s cannot name a partition", t)
	}
	return text, text != "", nil
}

// javaFloat is Java's Double.toString or Float.toString: a plain number with a fraction from 10^-3 up to 10^7, else a
// mantissa with a fraction and an exponent.
func javaFloat(v float64, bits int) string {
	switch {
	case v != v:
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	if abs := math.Abs(v); abs == 0 || abs >= 1e-3 && abs < 1e7 {
		s := strconv.FormatFloat(v, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, bits), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent) // "+07", "-10": always a number
	return mantissa + "E" + strconv.Itoa(n)
}

func dateText(days int64) string {
	t := time.Unix(days*86400, 0).UTC()
	return yearText(t.Year()) + t.Format("-01-02")
}

// timestampText is in UTC, with six digits of fraction; an instant has its zone, so that no reader takes it for its own.
func timestampText(micros int64, kind schema.Kind) string {
	t := time.UnixMicro(micros).UTC()
	if kind == schema.TimestampNTZ {
		return yearText(t.Year()) + t.Format("-01-02 15:04:05.000000")
	}
	return yearText(t.Year()) + t.Format("-01-02T15:04:05.000000Z")
}

func yearText(year int) string {
	if year < 0 {
		return fmt.Sprintf("-%04d", -year)
	}
	return fmt.Sprintf("%04d", year)
}

// parsePartition reads a value from the log; nil is null, as is an empty string.
func parsePartition(t *schema.Type, text *string) (Value, error) {
	if text == nil || *text == "" {
		return nil, nil
	}
	v, err := parseText(t, *text)
	if err != nil {
		return nil, fmt.Errorf("partition value %q is not a %s: %w", *text, t, err)
	}
	return v, nil
}

func parseText(t *schema.Type, s string) (Value, error) {
	switch t.Kind {
	case schema.String:
		return s, nil
	case schema.Boolean:
		return strconv.ParseBool(strings.ToLower(s))
	case schema.Byte:
		return strconv.ParseInt(s, 10, 8)
	case schema.Short:
		return strconv.ParseInt(s, 10, 16)
	case schema.Integer:
		return strconv.ParseInt(s, 10, 32)
	case schema.Long:
		return strconv.ParseInt(s, 10, 64)
	case schema.Float:
		return strconv.ParseFloat(s, 32)
	case schema.Double:
		return strconv.ParseFloat(s, 64)
	case schema.Decimal:
		return parseDecimal(s, t.Scale)
	case schema.Date:
		return schema.ParseDate(s)
	case schema.Timestamp, schema.TimestampNTZ:
		return schema.ParseTimestamp(s)
	case schema.Binary:
		return s, nil
	default:
		return nil, fmt.Errorf("the type cannot name a partition")
	}
}
