package variant

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
	encoder "github.com/parquet-go/parquet-go/variant"
)

// Encode is the inverse of Decode. Integers and decimals take as few bytes as they need, whatever they had taken. The value is the
// encoder's memory: no other call changes it.
func Encode(v *Value) (metadata, value []byte, err error) {
	var b encoder.Builder
	if err := write(&b, v); err != nil {
		return nil, nil, err
	}
	return b.Finish()
}

func write(b *encoder.Builder, v *Value) error {
	switch v.Kind {
	case Null:
		b.Null()
	case Boolean:
		b.Bool(v.Boolean)
	case Integer:
		writeInteger(b, v.Integer)
	case Float:
		b.Float(float32(v.Float))
	case Double:
		b.Double(v.Float)
	case Decimal:
		writeDecimal(b, v)
	case Date:
		b.Date(int32(v.Integer))
	case Timestamp, TimestampNTZ:
		writeTimestamp(b, v)
	case Time:
		b.Time(v.Integer)
	case Binary:
		b.Binary(v.Bytes)
	case String:
		b.String(string(v.Bytes))
	case UUID:
		b.UUID(uuid.UUID(v.Bytes))
	case Object:
		b.BeginObject()
		for i := range v.Fields {
			b.Field(v.Fields[i].Name)
			if err := write(b, &v.Fields[i].Value); err != nil {
				return err
			}
		}
		b.EndObject()
	case Array:
		b.BeginArray()
		for i := range v.Items {
			if err := write(b, &v.Items[i]); err != nil {
				return err
			}
		}
		b.EndArray()
	default:
		return fmt.Errorf("a variant of kind %d has no encoding", v.Kind)
	}
	return b.Err()
}

func writeInteger(b *encoder.Builder, n int64) {
	switch {
	case n == int64(int8(n)):
		b.Int8(int8(n))
	case n == int64(int16(n)):
		b.Int16(int16(n))
	case n == int64(int32(n)):
		b.Int32(int32(n))
	default:
		b.Int64(n)
	}
}

// writeDecimal takes 4 bytes for up to 9 digits, 8 for up to 18, else 16.
func writeDecimal(b *encoder.Builder, v *Value) {
	scale := byte(v.Scale)
	switch {
	case v.Unscaled.FitsInPrecision(9):
		b.Decimal4(int32(v.Unscaled.LowBits()), scale)
	case v.Unscaled.FitsInPrecision(18):
		b.Decimal8(int64(v.Unscaled.LowBits()), scale)
	default:
		var unscaled [16]byte
		binary.LittleEndian.PutUint64(unscaled[:], v.Unscaled.LowBits())
		binary.LittleEndian.PutUint64(unscaled[8:], uint64(v.Unscaled.HighBits()))
		b.Decimal16(unscaled, scale)
	}
}

func writeTimestamp(b *encoder.Builder, v *Value) {
	switch {
	case v.Kind == Timestamp && v.Nanos:
		b.TimestampNanos(v.Integer)
	case v.Kind == Timestamp:
		b.Timestamp(v.Integer)
	case v.Nanos:
		b.TimestampNTZNanos(v.Integer)
	default:
		b.TimestampNTZ(v.Integer)
	}
}
