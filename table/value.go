package table

import (
	"cmp"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Value is a partition's value, a bound or a literal of a Predicate in its Go form: bool, int64 (all integers, days of a date,
// microseconds of timestamps), float64, Decimal, or string (also of binary). nil is null.
type Value any

// compareValues orders two values of one type, neither of them null.
func compareValues(a, b Value) int {
	switch a := a.(type) {
	case bool:
		return boolOrder(a) - boolOrder(b.(bool))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return compareFloats(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	default:
		return a.(Decimal).Unscaled.Cmp(b.(Decimal).Unscaled)
	}
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isNaN(v Value) bool {
	f, ok := v.(float64)
	return ok && f != f
}

// compareFloats has NaN behind all others.
func compareFloats(a, b float64) int {
	switch {
	case a != a || b != b:
		return boolOrder(a != a) - boolOrder(b != b)
	default:
		return cmp.Compare(a, b)
	}
}

// valueAt is a cell; scale is that of decimals.
func valueAt(a arrow.Array, i, scale int) Value {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Null: // IsNull does not know
		return nil
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.Decimal128:
		return Decimal{a.Value(i), scale}
	default:
		return struct{}{} // of a type without order: not null, and nothing else is asked
	}
}
