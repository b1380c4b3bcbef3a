package variant

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// microsOfDay are those of a day.
const microsOfDay = 86400 * 1_000_000

// primitive reads a value by the id of its type ("Encoding types").
func (d *decoder) primitive(id byte, b []byte) (Value, error) {
	switch id {
	case 0:
		return Value{}, d.take(1)
	case 1, 2:
		return Value{Kind: Boolean, Boolean: id == 1}, d.take(1)
	case 3, 4, 5, 6:
		return d.integer(Integer, b, 1<<(id-3))
	case 7, 14:
		return d.float(b, id == 14)
	case 8, 9, 10:
		return d.decimal(b, 4<<(id-8))
	case 11:
		return d.integer(Date, b, 4)
	case 12:
		return d.integer(Timestamp, b, 8)
	case 13:
		return d.integer(TimestampNTZ, b, 8)
	case 15, 16:
		return d.longText([]Kind{Binary, String}[id-15], b)
	case 17:
		return d.time(b)
	case 18, 19:
		v, err := d.integer([]Kind{Timestamp, TimestampNTZ}[id-18], b, 8)
		v.Nanos = true
		return v, err
	case 20:
		return d.text(UUID, b, 16)
	default:
		return Value{}, fmt.Errorf("the variant has a value of type %d, which is not known; read it by a newer version", id)
	}
}

// integer reads a two's complement of 1, 2, 4 or 8 bytes.
func (d *decoder) integer(kind Kind, b []byte, size int) (Value, error) {
	if len(b) < size {
		return Value{}, errShort
	}
	v := Value{Kind: kind}
	switch size {
	case 1:
		v.Integer = int64(int8(b[0]))
	case 2:
		v.Integer = int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		v.Integer = int64(int32(binary.LittleEndian.Uint32(b)))
	default:
		v.Integer = int64(binary.LittleEndian.Uint64(b))
	}
	return v, d.take(1 + size)
}

func (d *decoder) float(b []byte, single bool) (Value, error) {
	switch {
	case single && len(b) >= 4:
		return Value{Kind: Float, Float: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}, d.take(1 + 4)
	case !single && len(b) >= 8:
		return Value{Kind: Double, Float: math.Float64frombits(binary.LittleEndian.Uint64(b))}, d.take(1 + 8)
	default:
		return Value{}, errShort
	}
}

// decimal reads the scale, and an unscaled value of 4, 8 or 16 bytes.
func (d *decoder) decimal(b []byte, size int) (Value, error) {
	if len(b) < 1+size {
		return Value{}, errShort
	}
	v := Value{Kind: Decimal, Scale: int32(b[0])}
	if v.Scale > 38 {
		return Value{}, fmt.Errorf("the variant is damaged: a decimal has the scale %d", v.Scale)
	}
	if b = b[1:]; size == 16 {
		v.Unscaled = decimal128.New(int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b))
		return v, d.take(2 + size)
	}
	n, err := d.integer(Integer, b, size)
	v.Unscaled = decimal128.FromI64(n.Integer)
	if err == nil {
		err = d.take(1)
	}
	return v, err
}

func (d *decoder) time(b []byte) (Value, error) {
	v, err := d.integer(Time, b, 8)
	if err == nil && (v.Integer < 0 || v.Integer >= microsOfDay) {
		err = fmt.Errorf("the variant is damaged: %d microseconds are no time of a day", v.Integer)
	}
	return v, err
}

// longText reads bytes behind their number.
func (d *decoder) longText(kind Kind, b []byte) (Value, error) {
	n, rest, err := number(b, 4)
	if err != nil {
		return Value{}, err
	}
	if err := d.take(4); err != nil {
		return Value{}, err
	}
	return d.text(kind, rest, n)
}

// text reads a number of bytes.
func (d *decoder) text(kind Kind, b []byte, n int) (Value, error) {
	if len(b) < n {
		return Value{}, errShort
	}
	if kind == String && !utf8.Valid(b[:n]) {
		return Value{}, errText
	}
	return Value{Kind: kind, Bytes: b[:n:n]}, d.take(1 + n)
}
