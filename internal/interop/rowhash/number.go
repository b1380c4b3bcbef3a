package rowhash

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// numberAppender is for the types of one number a value.
func numberAppender(arr arrow.Array) (appender, error) {
	switch a := arr.(type) {
	case *array.Int8:
		return ints(a.Int8Values()), nil
	case *array.Int16:
		return ints(a.Int16Values()), nil
	case *array.Int32:
		return ints(a.Int32Values()), nil
	case *array.Int64:
		return ints(a.Int64Values()), nil
	case *array.Date32:
		return ints(a.Date32Values()), nil
	case *array.Float32:
		return func(b []byte, i int) []byte { return AppendFloat(b, a.Value(i)) }, nil
	case *array.Float64:
		return func(b []byte, i int) []byte { return AppendDouble(b, a.Value(i)) }, nil
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(b []byte, i int) []byte { return AppendDecimal(b, a.Value(i).BigInt(), scale) }, nil
	case *array.Timestamp:
		if unit := a.DataType().(*arrow.TimestampType).Unit; unit != arrow.Microsecond {
			return nil, fmt.Errorf("no canonical text for timestamps in %s; Delta's are in microseconds", unit)
		}
		return ints(a.TimestampValues()), nil
	default:
		return nil, fmt.Errorf("no canonical text for Arrow type %s", arr.DataType())
	}
}

func ints[T ~int8 | ~int16 | ~int32 | ~int64](values []T) appender {
	return func(b []byte, i int) []byte { return AppendInt(b, int64(values[i])) }
}
