package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

// readValues puts values of a page, from one to before another, behind those of a leaf.
type readValues func(to *leafValues, page encoding.Values, from, before int) error

// leafReader returns how values of a file's leaf become values of the type. Beside our own forms it knows those that other
// writers use: INT96 and timestamps in milliseconds and nanoseconds, decimals in any physical type and with a smaller
// scale, narrower numbers from before a type was widened.
func leafReader(t *schema.Type, leaf *parquet.Column) (readValues, error) {
	stored := leaf.Type()
	kind := stored.Kind()
	var read readValues
	switch t.Kind {
	case schema.Boolean:
		read = onlyFrom(kind == parquet.Boolean, readBooleans)
	case schema.Byte, schema.Short, schema.Integer, schema.Long:
		read = integerReader(t.Kind, kind)
	case schema.Float:
		read = onlyFrom(kind == parquet.Float, readSame((*encoding.Values).Float))
	case schema.Double:
		read = doubleReader(kind)
	case schema.Decimal:
		read = decimalReader(t, stored)
	case schema.String:
		read = onlyFrom(kind == parquet.ByteArray, (*leafValues).appendTexts)
	case schema.Binary:
		switch kind {
		case parquet.ByteArray:
			read = (*leafValues).appendTexts
		case parquet.FixedLenByteArray:
			read = readFixedTexts
		}
	case schema.Date:
		read = onlyFrom(kind == parquet.Int32, readSame((*encoding.Values).Int32))
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

func onlyFrom(ok bool, read readValues) readValues {
	if !ok {
		return nil
	}
	return read
}

// readSame reads numbers that the file stores as the table has them.
func readSame[T int32 | int64 | float32 | float64](numbers func(*encoding.Values) []T) readValues {
	return func(to *leafValues, page encoding.Values, from, before int) error {
		appendNumbers(to, numbers(&page)[from:before])
		return nil
	}
}

// readAs reads numbers that the file stores in another form than the table has them.
func readAs[S any, T int8 | int16 | int32 | int64 | float64](numbers func(*encoding.Values) []S, as func(S) (T, error)) readValues {
	return func(to *leafValues, page encoding.Values, from, before int) error {
		stored := numbers(&page)[from:before]
		read := grow[T](to, len(stored))
		for i, n := range stored {
			var err error
			if read[i], err = as(n); err != nil {
				return err
			}
		}
		return nil
	}
}

func readBooleans(to *leafValues, page encoding.Values, from, before int) error {
	bits := page.Boolean()
	read := grow[int8](to, before-from)
	for i := range read {
		at := from + i
		read[i] = int8(bits[at/8] >> (at % 8) & 1)
	}
	return nil
}

func readFixedTexts(to *leafValues, page encoding.Values, from, before int) error {
	bytes, width := page.FixedLenByteArray()
	for i := from; i < before; i++ {
		if err := to.appendText(bytes[i*width : (i+1)*width]); err != nil {
			return err
		}
	}
	return nil
}

func integerReader(t schema.Kind, kind parquet.Kind) readValues {
	if kind == parquet.Int64 && t == schema.Long {
		return readSame((*encoding.Values).Int64)
	}
	if kind != parquet.Int32 {
		return nil
	}
	switch t {
	case schema.Byte:
		return readAs((*encoding.Values).Int32, func(n int32) (int8, error) {
			return int8(n), inRange(n, math.MinInt8, math.MaxInt8)
		})
	case schema.Short:
		return readAs((*encoding.Values).Int32, func(n int32) (int16, error) {
			return int16(n), inRange(n, math.MinInt16, math.MaxInt16)
		})
	case schema.Integer:
		return readSame((*encoding.Values).Int32)
	default:
		return readAs((*encoding.Values).Int32, func(n int32) (int64, error) { return int64(n), nil })
	}
}

func inRange(n, low, high int32) error {
	if n < low || n > high {
		return fmt.Errorf("the value %d does not fit into the column's type", n)
	}
	return nil
}

func doubleReader(kind parquet.Kind) readValues {
	switch kind {
	case parquet.Double:
		return readSame((*encoding.Values).Double)
	case parquet.Float:
		return readAs((*encoding.Values).Float, func(f float32) (float64, error) { return float64(f), nil })
	case parquet.Int32:
		return readAs((*encoding.Values).Int32, func(n int32) (float64, error) { return float64(n), nil })
	default:
		return nil
	}
}

func decimalReader(t *schema.Type, stored parquet.Type) readValues {
	scale := 0
	if lt := stored.LogicalType(); lt != nil {
		if d, ok := lt.Value.(*format.DecimalType); ok {
			scale = int(d.Scale)
		}
	}
	if scale > t.Scale {
		return nil
	}
	var get func(page encoding.Values) func(i int) (decimal128.Num, bool)
	switch stored.Kind() {
	case parquet.Int32:
		get = func(page encoding.Values) func(int) (decimal128.Num, bool) {
			numbers := page.Int32()
			return func(i int) (decimal128.Num, bool) { return decimal128.FromI64(int64(numbers[i])), true }
		}
	case parquet.Int64:
		get = func(page encoding.Values) func(int) (decimal128.Num, bool) {
			numbers := page.Int64()
			return func(i int) (decimal128.Num, bool) { return decimal128.FromI64(numbers[i]), true }
		}
	case parquet.ByteArray:
		get = func(page encoding.Values) func(int) (decimal128.Num, bool) {
			bytes, offsets := page.ByteArray()
			return func(i int) (decimal128.Num, bool) { return fromBigEndian(bytes[offsets[i]:offsets[i+1]]) }
		}
	case parquet.FixedLenByteArray:
		get = func(page encoding.Values) func(int) (decimal128.Num, bool) {
			bytes, width := page.FixedLenByteArray()
			return func(i int) (decimal128.Num, bool) { return fromBigEndian(bytes[i*width : (i+1)*width]) }
		}
	default:
		return nil
	}
	rescale := rescaler(t, scale)
	return func(to *leafValues, page encoding.Values, from, before int) error {
		number := get(page)
		read := grow[[2]uint64](to, before-from)
		for i := range read {
			n, ok := number(from + i)
			if ok {
				n, ok = rescale(n)
			}
			if !ok {
				return fmt.Errorf("a decimal does not fit into %s", t)
			}
			read[i] = [2]uint64{n.LowBits(), uint64(n.HighBits())}
		}
		return nil
	}
}

// rescaler gives decimals of a smaller scale the type's.
func rescaler(t *schema.Type, scale int) func(decimal128.Num) (decimal128.Num, bool) {
	if scale == t.Scale {
		return func(n decimal128.Num) (decimal128.Num, bool) { return n, true }
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale-scale)), nil)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	return func(n decimal128.Num) (decimal128.Num, bool) {
		wide := n.BigInt()
		if wide.Mul(wide, shift); wide.CmpAbs(limit) >= 0 {
			return n, false
		}
		return decimal128.FromBigInt(wide), true
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
func midnightReader(stored parquet.Type) readValues {
	if lt := stored.LogicalType(); lt == nil || stored.Kind() != parquet.Int32 {
		return nil
	} else if _, isDate := lt.Value.(*format.DateType); !isDate {
		return nil
	}
	return readAs((*encoding.Values).Int32, func(day int32) (int64, error) { return int64(day) * dayMicros, nil })
}

var errOutOfTime = errors.New("a timestamp does not fit into microseconds of 64 bits")

func timestampReader(stored parquet.Type) readValues {
	if stored.Kind() == parquet.Int96 {
		return readAs((*encoding.Values).Int96, int96Micros)
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
		return readAs((*encoding.Values).Int64, func(n int64) (int64, error) {
			if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
				return 0, errOutOfTime
			}
			return n * 1000, nil
		})
	case time.Nanosecond:
		return readAs((*encoding.Values).Int64, func(n int64) (int64, error) { return floorDiv(n, 1000), nil })
	default:
		return readSame((*encoding.Values).Int64)
	}
}

// int96Micros reads Impala's timestamp: nanoseconds of the day, then the Julian day.
func int96Micros(i deprecated.Int96) (int64, error) {
	const julianEpoch = 2440588 // of 1970-01-01
	nanos := int64(uint64(i[1])<<32 | uint64(i[0]))
	days := int64(int32(i[2])) - julianEpoch
	if days > math.MaxInt64/dayMicros-1 || days < math.MinInt64/dayMicros+1 {
		return 0, errOutOfTime
	}
	return days*dayMicros + floorDiv(nanos, 1000), nil
}
