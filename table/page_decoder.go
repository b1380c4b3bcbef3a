package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

// decodedPage are the values of a data page as an Arrow array of the leaf's type without its nulls (texts perhaps in a
// dictionary), and the page's levels. It is valid until the next page is decoded.
type decodedPage struct {
	values arrow.Array
	pageEntries
}

// pageEntries are some entries of a page.
type pageEntries struct {
	levelled
	at []int32 // indexes in the page's values of those that are not absent
}

// levelled are the levels of some entries of a leaf.
type levelled struct {
	levels int     // entries, absent ones included
	def    []uint8 // nil when none is absent
	rep    []uint8 // nil for leaves that are in no list
	absent int
}

// pageDecoder decodes the data pages of one column chunk after the other, a page at a time and all of its values at once. Not
// safe for concurrent use.
type pageDecoder struct {
	dictionary int         // the number of its values
	fixed      []byte      // those of a fixed width, PLAIN
	texts      arrow.Array // or those that are texts

	// Scratch, of a page.
	body     []byte // decompressed
	def, rep []uint8
	all      []int32 // 0, 1, 2, …
	offsets  []int32
	ids      []uint32
	aligned  []byte
}

// forget makes the decoder one of another chunk.
func (d *pageDecoder) forget() { d.dictionary, d.fixed, d.texts = 0, nil, nil }

// setDictionary takes in the chunk's dictionary page.
func (d *pageDecoder) setDictionary(l *leaf, body []byte, n int) error {
	d.dictionary = n
	if l.isText() {
		var err error
		d.texts, _, err = textsArray(l.typ, slices.Clone(body), n, nil)
		return err
	}
	width := l.width()
	if width == 0 || n < 0 || len(body) < n*width {
		return errDamaged
	}
	d.fixed = slices.Clone(body[:n*width])
	return nil
}

func (d *pageDecoder) decode(l *leaf, body []byte, levels int, encoding format.Encoding) (*decodedPage, error) {
	p := &decodedPage{}
	var err error
	if p.levelled, body, err = d.levels(l, body, levels); err != nil {
		return nil, err
	}
	present := levels - p.absent
	for len(d.all) < present {
		d.all = append(d.all, int32(len(d.all)))
	}
	p.at = d.all[:present]
	p.values, err = d.values(l, body, present, encoding)
	return p, err
}

// levels takes the levels of so many entries off the front of a page.
func (d *pageDecoder) levels(l *leaf, body []byte, n int) (all levelled, values []byte, err error) {
	all.levels = n
	if l.maxRep > 0 {
		if d.rep, body, err = takeLevels(d.rep[:0], body, l.maxRep, n); err != nil {
			return all, nil, err
		}
		all.rep = d.rep
	}
	if l.maxDef == 0 {
		return all, body, nil
	}
	if d.def, body, err = takeLevels(d.def[:0], body, l.maxDef, n); err != nil {
		return all, nil, err
	}
	all.absent = below(d.def, l.maxDef)
	if all.absent+bytes.Count(d.def, []byte{uint8(l.maxDef)}) != n {
		return all, nil, errDamaged
	}
	if all.absent > 0 {
		all.def = d.def
	}
	return all, body, nil
}

// below counts the definition levels that are below one.
func below(def []uint8, level int) (n int) {
	for v := range level {
		n += bytes.Count(def, []byte{uint8(v)})
	}
	return n
}

// takeLevels takes the levels off the front of a page of version 1.
func takeLevels(to []uint8, body []byte, most, n int) (levels []uint8, rest []byte, err error) {
	if len(body) < 4 {
		return nil, nil, errDamaged
	}
	size := binary.LittleEndian.Uint32(body)
	if int64(size) > int64(len(body)-4) {
		return nil, nil, errDamaged
	}
	levels, err = decodeHybrid(to, body[4:4+size], widthOf(most), n)
	return levels, body[4+size:], err
}

// values decodes n values.
func (d *pageDecoder) values(l *leaf, b []byte, n int, encoding format.Encoding) (arrow.Array, error) {
	switch {
	case encoding == plainDictionary || encoding == format.RLEDictionary:
		return d.indexed(l, b, n)
	case l.isText():
		return d.plainTexts(l, b, n, encoding)
	case l.typ.Kind == schema.Boolean:
		if encoding != format.Plain || len(b) < (n+7)/8 {
			return nil, errDamaged
		}
		return newArray(l.typ, n, b[:(n+7)/8]), nil
	case encoding == format.Plain:
		if len(b) < n*l.width() {
			return nil, errDamaged
		}
		d.aligned = append(d.aligned[:0], b[:n*l.width()]...)
	case encoding == format.DeltaBinaryPacked:
		if err := d.unpack(l, b, n); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("a page is encoded %s: %w", encoding, errDamaged)
	}
	return fixedArray(l, d.aligned, n)
}

// indexed decodes values that are in the chunk's dictionary.
func (d *pageDecoder) indexed(l *leaf, b []byte, n int) (arrow.Array, error) {
	switch {
	case n == 0 && l.isText():
		return d.plainTexts(l, nil, 0, format.Plain)
	case n == 0:
		return newArray(l.typ, 0, nil), nil
	case len(b) == 0:
		return nil, errDamaged
	}
	var err error
	if d.ids, err = decodeHybrid(d.ids[:0], b[1:], int(b[0]), n); err != nil {
		return nil, err
	}
	if int64(slices.Max(d.ids)) >= int64(d.dictionary) {
		return nil, errDamaged
	}
	if l.isText() {
		t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: l.typ.ArrowType()}
		indices := array.NewData(t.IndexType, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(d.ids))}, nil, 0, 0)
		return array.NewDictionaryArray(t, array.MakeFromData(indices), d.texts), nil
	}
	width := l.width()
	d.aligned = d.aligned[:0]
	for _, id := range d.ids {
		d.aligned = append(d.aligned, d.fixed[int(id)*width:][:width]...)
	}
	return fixedArray(l, d.aligned, n)
}

// unpack decodes numbers that are stored as differences.
func (d *pageDecoder) unpack(l *leaf, b []byte, n int) error {
	if l.physical != format.Int32 && l.physical != format.Int64 {
		return errDamaged
	}
	if n == 0 {
		d.aligned = d.aligned[:0]
		return nil
	}
	if err := parquetfile.CheckDeltas(b, n, 8*l.width()); err != nil {
		return err
	}
	if l.physical == format.Int32 {
		values, err := (&delta.BinaryPackedEncoding{}).DecodeInt32(nil, b)
		if err != nil || len(values) != n {
			return errDamaged
		}
		d.aligned = append(d.aligned[:0], plain(values)...)
		return nil
	}
	values, err := (&delta.BinaryPackedEncoding{}).DecodeInt64(nil, b)
	if err != nil || len(values) != n {
		return errDamaged
	}
	d.aligned = append(d.aligned[:0], plain(values)...)
	return nil
}

func (d *pageDecoder) plainTexts(l *leaf, b []byte, n int, encoding format.Encoding) (arrow.Array, error) {
	switch encoding {
	case format.Plain:
		var (
			a   arrow.Array
			err error
		)
		a, d.offsets, err = textsArray(l.typ, b, n, d.offsets)
		return a, err
	case format.DeltaLengthByteArray:
		if n == 0 {
			return d.plainTexts(l, nil, 0, format.Plain)
		}
		if err := parquetfile.CheckDeltas(b, n, 32); err != nil {
			return nil, err
		}
		all, offsets, err := (&delta.LengthByteArrayEncoding{}).DecodeByteArray(nil, b, nil)
		if err != nil || len(offsets) < n+1 {
			return nil, errDamaged
		}
		return newArray(l.typ, n, arrow.Uint32Traits.CastToBytes(offsets[:n+1]), all), nil
	default:
		return nil, fmt.Errorf("a page of texts is encoded %s: %w", encoding, errDamaged)
	}
}

// textsArray returns texts that lie in b, each behind its length, with offsets in the memory given if that is enough. It moves
// them together there.
func textsArray(t *schema.Type, b []byte, n int, offsets []int32) (arrow.Array, []int32, error) {
	if n < 0 || n > len(b)/4 {
		return nil, offsets, errDamaged
	}
	offsets = append(offsets[:0], 0)
	from, end := 0, 0
	for range n {
		if len(b)-from < 4 {
			return nil, offsets, errDamaged
		}
		size := int(binary.LittleEndian.Uint32(b[from:]))
		from += 4
		if size > len(b)-from {
			return nil, offsets, errDamaged
		}
		copy(b[end:], b[from:from+size])
		from, end = from+size, end+size
		offsets = append(offsets, int32(end))
	}
	return newArray(t, n, arrow.Int32Traits.CastToBytes(offsets), b[:end]), offsets, nil
}

// fixedArray returns n numbers that are PLAIN, in memory that is aligned to them.
func fixedArray(l *leaf, b []byte, n int) (arrow.Array, error) {
	var err error
	switch l.typ.Kind {
	case schema.Byte:
		b, err = narrow[int8](b, n)
	case schema.Short:
		b, err = narrow[int16](b, n)
	case schema.Decimal:
		b = decimalsOf(b, n, l.width())
	}
	if err != nil {
		return nil, err
	}
	return newArray(l.typ, n, b), nil
}

// narrow returns numbers that are stored in 32 bits.
func narrow[T int8 | int16](b []byte, n int) ([]byte, error) {
	small := make([]T, n)
	for i, v := range arrow.Int32Traits.CastFromBytes(b)[:n] {
		if small[i] = T(v); int32(small[i]) != v {
			return nil, fmt.Errorf("the value %d does not fit into the column's type", v)
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(small))), n*int(unsafe.Sizeof(T(0)))), nil
}

// decimalsOf returns the decimals of a width as Arrow holds them.
func decimalsOf(b []byte, n, width int) []byte {
	values := make([]decimal128.Num, n)
	for i := range values {
		values[i] = storedDecimal(b[i*width : (i+1)*width])
	}
	return arrow.Decimal128Traits.CastToBytes(values)
}

// storedDecimal is a decimal as 4, 8 or more bytes have it, at most 16.
func storedDecimal(b []byte) decimal128.Num {
	switch len(b) {
	case 4:
		return decimal128.FromI64(int64(int32(binary.LittleEndian.Uint32(b))))
	case 8:
		return decimal128.FromI64(int64(binary.LittleEndian.Uint64(b)))
	default:
		v, _ := fromBigEndian(b)
		return v
	}
}

func newArray(t *schema.Type, n int, buffers ...[]byte) arrow.Array {
	all := []*memory.Buffer{nil}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.MakeFromData(array.NewData(t.ArrowType(), n, all, nil, 0, 0))
}

// rowsIn counts the rows that begin in some entries, by their repetition levels.
func rowsIn(rep []uint8) int { return bytes.Count(rep, []byte{0}) }

// endOfRows returns where the entries of the next rows end, at most so many, of entries from one to before another, and how many rows begin
// there. Repetition levels are nil where each entry is a row.
func endOfRows(rep []uint8, from, to, most int) (end, rows int) {
	if rep == nil {
		rows = min(most, to-from)
		return from + rows, rows
	}
	if rows = rowsIn(rep[from:to]); rows <= most {
		return to, rows
	}
	rows = 0
	for end = from; end < to; end++ {
		if rep[end] != 0 {
			continue
		}
		if rows == most {
			break
		}
		rows++
	}
	return end, rows
}
