package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

// appendValue puts a value that is not null behind the others of a builder.
type appendValue func(b array.Builder, v parquet.Value) error

// leafReader returns how values of a file's leaf become values of the type. Beside our own forms it knows those that other
// writers use: INT96 and timestamps in milliseconds and nanoseconds, decimals in any physical type and with a smaller
// scale, narrower numbers from before a type was widened.
func leafReader(t *schema.Type, leaf *parquet.Column) (appendValue, error) {
	stored := leaf.Type()
	kind := stored.Kind()
	var read appendValue
	switch t.Kind {
	case schema.Boolean:
		read = onlyFrom(kind == parquet.Boolean, func(b array.Builder, v parquet.Value) error {
			b.(*array.BooleanBuilder).Append(v.Boolean())
			return nil
		})
	case schema.Byte, schema.Short, schema.Integer, schema.Long:
		read = integerReader(t.Kind, kind)
	case schema.Float:
		read = onlyFrom(kind == parquet.Float, func(b array.Builder, v parquet.Value) error {
			b.(*array.Float32Builder).Append(v.Float())
			return nil
		})
	case schema.Double:
		read = doubleReader(kind)
	case schema.Decimal:
		read = decimalReader(t, stored)
	case schema.String:
		read = onlyFrom(kind == parquet.ByteArray, func(b array.Builder, v parquet.Value) error {
			b.(*array.StringBuilder).BinaryBuilder.Append(v.ByteArray())
			return nil
		})
	case schema.Binary:
		read = onlyFrom(kind == parquet.ByteArray || kind == parquet.FixedLenByteArray, func(b array.Builder, v parquet.Value) error {
			b.(*array.BinaryBuilder).Append(v.ByteArray())
			return nil
		})
	case schema.Date:
		read = onlyFrom(kind == parquet.Int32, func(b array.Builder, v parquet.Value) error {
			b.(*array.Date32Builder).Append(arrow.Date32(v.Int32()))
			return nil
		})
	case schema.Timestamp:
		read = timestampReader(stored)
	case schema.TimestampNTZ:
		if read = midnightReader(stored); read == nil {
			read = timestampReader(stored)
		}
	}
	if read == nil {
		return nil, fmt.Errorf("column %s: the file stores %s where the table has %s", leaf.Name(), stored, t)
	}
	return read, nil
}

func onlyFrom(ok bool, read appendValue) appendValue {
	if !ok {
		return nil
	}
	return read
}

func integerReader(t schema.Kind, kind parquet.Kind) appendValue {
	if kind != parquet.Int32 && !(kind == parquet.Int64 && t == schema.Long) {
		return nil
	}
	get := func(v parquet.Value) int64 { return int64(v.Int32()) }
	if kind == parquet.Int64 {
		get = func(v parquet.Value) int64 { return v.Int64() }
	}
	switch t {
	case schema.Byte:
		return func(b array.Builder, v parquet.Value) error {
			n := get(v)
			b.(*array.Int8Builder).Append(int8(n))
			return inRange(n, math.MinInt8, math.MaxInt8)
		}
	case schema.Short:
		return func(b array.Builder, v parquet.Value) error {
			n := get(v)
			b.(*array.Int16Builder).Append(int16(n))
			return inRange(n, math.MinInt16, math.MaxInt16)
		}
	case schema.Integer:
		return func(b array.Builder, v parquet.Value) error {
			b.(*array.Int32Builder).Append(v.Int32())
			return nil
		}
	default:
		return func(b array.Builder, v parquet.Value) error {
			b.(*array.Int64Builder).Append(get(v))
			return nil
		}
	}
}

func inRange(n, low, high int64) error {
	if n < low || n > high {
		return fmt.Errorf("the value %d does not fit into the column's type", n)
	}
	return nil
}

func doubleReader(kind parquet.Kind) appendValue {
	var get func(v parquet.Value) float64
	switch kind {
	case parquet.Double:
		get = func(v parquet.Value) float64 { return v.Double() }
	case parquet.Float:
		get = func(v parquet.Value) float64 { return float64(v.Float()) }
	case parquet.Int32:
		get = func(v parquet.Value) float64 { return float64(v.Int32()) }
	default:
		return nil
	}
	return func(b array.Builder, v parquet.Value) error {
		b.(*array.Float64Builder).Append(get(v))
		return nil
	}
}

func decimalReader(t *schema.Type, stored parquet.Type) appendValue {
	scale := 0
	if lt := stored.LogicalType(); lt != nil {
		if d, ok := lt.Value.(*format.DecimalType); ok {
			scale = int(d.Scale)
		}
	}
	if scale > t.Scale {
		return nil
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale-scale)), nil)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	var get func(v parquet.Value) (decimal128.Num, bool)
	switch stored.Kind() {
	case parquet.Int32:
		get = func(v parquet.Value) (decimal128.Num, bool) { return decimal128.FromI64(int64(v.Int32())), true }
	case parquet.Int64:
		get = func(v parquet.Value) (decimal128.Num, bool) { return decimal128.FromI64(v.Int64()), true }
	case parquet.ByteArray, parquet.FixedLenByteArray:
		get = func(v parquet.Value) (decimal128.Num, bool) { return fromBigEndian(v.ByteArray()) }
	default:
		return nil
	}
	return func(b array.Builder, v parquet.Value) error {
		n, ok := get(v)
		if ok && scale != t.Scale {
			wide := n.BigInt()
			if wide.Mul(wide, shift); wide.CmpAbs(limit) < 0 {
				n = decimal128.FromBigInt(wide)
			} else {
				ok = false
			}
		}
		b.(*array.Decimal128Builder).Append(n)
		if !ok {
			return fmt.Errorf("a decimal does not fit into %s", t)
		}
		return nil
	}
}

// fromBigEndian reads a two's complement of any length.
func fromBigEndian(b []byte) (decimal128.Num, bool) {
	var fill byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		fill = 0xff
	}
	for len(b) > 16 && b[0] == fill && b[1]&0x80 == fill&0x80 {
		b = b[1:]
	}
	if len(b) > 16 {
		return decimal128.Num{}, false
	}
	var full [16]byte
	for i := range full {
		full[i] = fill
	}
	copy(full[16-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(full[:8])), binary.BigEndian.Uint64(full[8:])), true
}

const dayMicros = 86400 * 1_000_000

// midnightReader reads dates of before a column was widened; nil for other types.
func midnightReader(stored parquet.Type) appendValue {
	if lt := stored.LogicalType(); lt == nil || stored.Kind() != parquet.Int32 {
		return nil
	} else if _, isDate := lt.Value.(*format.DateType); !isDate {
		return nil
	}
	return appendMicros(func(v parquet.Value) (int64, bool) { return int64(v.Int32()) * dayMicros, true })
}

func timestampReader(stored parquet.Type) appendValue {
	if stored.Kind() == parquet.Int96 {
		return appendMicros(int96Micros)
	}
	if stored.Kind() != parquet.Int64 {
		return nil
	}
	unit := time.Microsecond
	if lt := stored.LogicalType(); lt != nil {
		if ts, ok := lt.Value.(*format.TimestampType); ok && ts.Unit.Value != nil {
			unit = ts.Unit.Value.Duration()
		}
	}
	switch unit {
	case time.Millisecond:
		return appendMicros(func(v parquet.Value) (int64, bool) {
			n := v.Int64()
			return n * 1000, n <= math.MaxInt64/1000 && n >= math.MinInt64/1000
		})
	case time.Nanosecond:
		return appendMicros(func(v parquet.Value) (int64, bool) { return floorDiv(v.Int64(), 1000), true })
	default:
		return appendMicros(func(v parquet.Value) (int64, bool) { return v.Int64(), true })
	}
}

func appendMicros(get func(parquet.Value) (int64, bool)) appendValue {
	return func(b array.Builder, v parquet.Value) error {
		micros, ok := get(v)
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(micros))
		if !ok {
			return fmt.Errorf("a timestamp does not fit into microseconds of 64 bits")
		}
		return nil
	}
}

// int96Micros reads Impala's timestamp: nanoseconds of the day, then the Julian day.
func int96Micros(v parquet.Value) (int64, bool) {
	const julianEpoch = 2440588 // of 1970-01-01
	i := v.Int96()
	nanos := int64(uint64(i[1])<<32 | uint64(i[0]))
	days := int64(int32(i[2])) - julianEpoch
	if days > math.MaxInt64/dayMicros-1 || days < math.MinInt64/dayMicros+1 {
		return 0, false
	}
	return days*dayMicros + floorDiv(nanos, 1000), true
}
