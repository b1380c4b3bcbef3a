package variant

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of values, as the parsers of JSON do that variants are made by.
const MaxDepth = 1000

var (
	errShort   = errors.New("the variant is damaged: it ends too early")
	errOverlap = errors.New("the variant is damaged: its values overlap")
	errText    = errors.New("the variant is damaged: a text is no UTF-8")
)

// Decode reads a value. Bytes behind its end count for nothing ("Value encoding").
func Decode(metadata, value []byte) (Value, error) {
	names, err := readNames(metadata)
	if err != nil {
		return Value{}, err
	}
	d := &decoder{names: names, left: len(value)}
	return d.value(value, 0)
}

// readNames reads the dictionary ("Metadata encoding").
func readNames(b []byte) ([]string, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if version := b[0] & 0xF; version != 1 {
		return nil, fmt.Errorf("the variant's encoding is of version %d, and 1 is known; read it by a newer version", version)
	}
	width := int(b[0]>>6) + 1
	n, rest, err := number(b[1:], width)
	if err != nil {
		return nil, err
	}
	starts, texts, err := numbers(rest, n+1, width)
	if err != nil {
		return nil, err
	}
	names := make([]string, n)
	for i := range names {
		from, to := starts.at(i), starts.at(i+1)
		if from > to || to > len(texts) {
			return nil, errShort
		}
		if names[i] = string(texts[from:to]); !utf8.ValidString(names[i]) {
			return nil, errText
		}
	}
	return names, nil
}

// decoder reads the values of one variant.
type decoder struct {
	names []string
	left  int // bytes that no value has been read from
}

// take says that a value has so many bytes but for those of values inside. Values may lie anywhere, but not upon each other:
// else a few bytes would be any number of them.
func (d *decoder) take(n int) error {
	if d.left -= n; d.left < 0 {
		return errOverlap
	}
	return nil
}

// value reads what b begins with. Its first byte tells in two bits what the others mean ("Value encoding").
func (d *decoder) value(b []byte, depth int) (Value, error) {
	switch {
	case len(b) == 0:
		return Value{}, errShort
	case depth > MaxDepth:
		return Value{}, fmt.Errorf("the variant is nested more than %d deep", MaxDepth)
	}
	header := b[0] >> 2
	switch b[0] & 3 {
	case 0:
		return d.primitive(header, b[1:])
	case 1:
		return d.text(String, b[1:], int(header))
	case 2:
		return d.object(header, b[1:], depth)
	default:
		return d.array(header, b[1:], depth)
	}
}

// object reads the fields ("Value Data for Object").
func (d *decoder) object(header byte, b []byte, depth int) (Value, error) {
	n, rest, err := count(b, header&0x10 != 0)
	if err != nil {
		return Value{}, err
	}
	ids, rest, err := numbers(rest, n, int(header>>2&3)+1)
	if err != nil {
		return Value{}, err
	}
	starts, values, err := d.starts(b, rest, n, header)
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: Object, Fields: make([]Field, n)}
	for i := range v.Fields {
		id := ids.at(i)
		if id >= len(d.names) {
			return Value{}, errShort
		}
		v.Fields[i].Name = d.names[id]
		if v.Fields[i].Value, err = d.inside(values, starts.at(i), depth); err != nil {
			return Value{}, err
		}
	}
	return v, unique(v.Fields)
}

// unique refuses fields that are there twice. They should be in the order of their names.
func unique(fields []Field) error {
	inOrder := true
	for i := 1; i < len(fields) && inOrder; i++ {
		inOrder = fields[i-1].Name < fields[i].Name
	}
	if inOrder {
		return nil
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	slices.Sort(names)
	if len(slices.Compact(names)) < len(fields) {
		return errors.New("the variant is damaged: an object has two fields of one name")
	}
	return nil
}

// array reads the items ("Value Data for Array").
func (d *decoder) array(header byte, b []byte, depth int) (Value, error) {
	n, rest, err := count(b, header&4 != 0)
	if err != nil {
		return Value{}, err
	}
	starts, values, err := d.starts(b, rest, n, header)
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: Array, Items: make([]Value, n)}
	for i := range v.Items {
		if v.Items[i], err = d.inside(values, starts.at(i), depth); err != nil {
			return Value{}, err
		}
	}
	return v, nil
}

// starts reads where the n values of an object or array begin, off the rest of its bytes, behind which these values are.
func (d *decoder) starts(b, rest []byte, n int, header byte) (starts packed, values []byte, err error) {
	if starts, values, err = numbers(rest, n+1, int(header&3)+1); err == nil {
		err = d.take(1 + len(b) - len(values))
	}
	return starts, values, err
}

// inside reads the value that begins at a place of those of an object or array.
func (d *decoder) inside(values []byte, start, depth int) (Value, error) {
	if start > len(values) {
		return Value{}, errShort
	}
	return d.value(values[start:], depth+1)
}

// count reads how many fields or items there are, in one byte or in four.
func count(b []byte, large bool) (n int, rest []byte, err error) {
	if large {
		return number(b, 4)
	}
	return number(b, 1)
}

// number reads a number of 1 to 4 bytes off the front.
func number(b []byte, width int) (n int, rest []byte, err error) {
	if len(b) < width {
		return 0, nil, errShort
	}
	return packed{b, width}.at(0), b[width:], nil
}

// packed are numbers of a width in bytes, one behind the other.
type packed struct {
	bytes []byte
	width int
}

func numbers(b []byte, n, width int) (p packed, rest []byte, err error) {
	if len(b)/width < n {
		return packed{}, nil, errShort
	}
	return packed{b[:n*width], width}, b[n*width:], nil
}

func (p packed) at(i int) int {
	var full [4]byte
	copy(full[:], p.bytes[i*p.width:(i+1)*p.width])
	return int(binary.LittleEndian.Uint32(full[:]))
}
