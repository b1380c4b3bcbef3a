package schema

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// ParquetLeaf is the Parquet node of a type that has no types inside, as Delta's writers agree on: timestamps in microseconds,
// decimals in the smallest type that holds them, integers without annotation but for those of 8 and 16 bits.
func ParquetLeaf(t *Type) parquet.Node {
	switch t.Kind {
	case Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case String:
		return parquet.String()
	case Byte:
		return parquet.Int(8)
	case Short:
		return parquet.Int(16)
	case Integer:
		return parquet.Leaf(bare{parquet.Int32Type})
	case Long:
		return parquet.Leaf(bare{parquet.Int64Type})
	case Float:
		return parquet.Leaf(parquet.FloatType)
	case Double:
		return parquet.Leaf(parquet.DoubleType)
	case Decimal:
		return decimalNode(t)
	case Date:
		return parquet.Date()
	case Timestamp:
		return parquet.TimestampAdjusted(parquet.Microsecond, true)
	case TimestampNTZ:
		return parquet.TimestampAdjusted(parquet.Microsecond, false)
	default:
		return parquet.Leaf(parquet.ByteArrayType)
	}
}

// bare is a physical type without annotation. parquet-go says of its plain integers that they are integers, which is true and
// not what Delta's other writers write.
type bare struct{ parquet.Type }

func (bare) LogicalType() *format.LogicalType         { return nil }
func (bare) ConvertedType() *deprecated.ConvertedType { return nil }

func decimalNode(t *Type) parquet.Node {
	switch {
	case t.Precision <= 9:
		return parquet.Decimal(t.Scale, t.Precision, parquet.Int32Type)
	case t.Precision <= 18:
		return parquet.Decimal(t.Scale, t.Precision, parquet.Int64Type)
	default:
		return parquet.Decimal(t.Scale, t.Precision, parquet.FixedLenByteArrayType(DecimalBytes(t.Precision)))
	}
}

// DecimalBytes is the length of the shortest two's complement that holds any number of that many digits.
func DecimalBytes(precision int) int {
	// log2(10) = 3.3219…; 38 digits need 16 bytes.
	bits := 1 + (precision*33219281+9999999)/10000000
	return (bits + 7) / 8
}
