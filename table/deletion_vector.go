package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/sluicedata/sluice/commitlog"
)

// deletionVector is which rows of a file have been deleted ("Deletion Vectors"): a bit for each row of the file. Anything
// wrong with one is an error of the scan: a row that has been deleted must not come back.
type deletionVector []uint64

func (d deletionVector) has(row int64) bool { return d != nil && d[row/64]&(1<<(row%64)) != 0 }

// run is how many rows from the given one on, of at most n, are like it: all deleted, or none.
func (d deletionVector) run(row, n int64) int64 {
	if d == nil {
		return n
	}
	alike := uint64(0)
	if d.has(row) {
		alike = ^alike
	}
	length := int64(0)
	for length < n {
		at := row + length
		rest := uint(at % 64)
		same := bits.TrailingZeros64((d[at/64] ^ alike) >> rest)
		if same < int(64-rest) {
			return min(length+int64(same), n)
		}
		length += int64(64 - rest)
	}
	return n
}

// count is how many rows from one to before another have been deleted.
func (d deletionVector) count(from, to int64) (n int64) {
	if d == nil || from == to {
		return 0
	}
	for at := from / 64; at <= (to-1)/64; at++ {
		word := d[at]
		if at == from/64 {
			word &= ^uint64(0) << (from % 64)
		}
		if at == (to-1)/64 {
			word &= ^uint64(0) >> (63 - (to-1)%64)
		}
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// vectorBytes reads a serialized bitmap.
func (s *Snapshot) vectorBytes(ctx context.Context, v *commitlog.DeletionVector) ([]byte, error) {
	if v.StorageType == "i" {
		b, err := commitlog.DecodeZ85(v.PathOrInlineDv)
		if err == nil && (v.SizeInBytes < 0 || int(v.SizeInBytes) > len(b)) {
			err = fmt.Errorf("it has %d bytes instead of %d", len(b), v.SizeInBytes)
		}
		if err != nil {
			return nil, damagedVector(err)
		}
		return b[:v.SizeInBytes], nil
	}
	path, err := v.Path()
	if err != nil {
		return nil, damagedVector(err)
	}
	at, err := s.place(path)
	if err != nil {
		return nil, err
	}
	return at.vector(ctx, v)
}

func damagedVector(err error) error {
	return fmt.Errorf("deletion vector: %w; the rows that have been deleted cannot be told from the others: restore it from a copy, or have the engine that wrote it write the file anew", err)
}

// vector reads one vector of a file of vectors: its size, its bytes, and their CRC-32, integers in big-endian order.
func (p *place) vector(ctx context.Context, v *commitlog.DeletionVector) (b []byte, err error) {
	object, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	offset, size := int64(1), int64(v.SizeInBytes)
	if v.Offset != nil {
		offset = int64(*v.Offset)
	}
	if offset < 1 || size < 0 || offset+size+8 > object.Size() {
		return nil, damagedVector(fmt.Errorf("%s has %d bytes, too few for %d at %d", p.name(), object.Size(), size, offset))
	}
	var format [1]byte
	if _, err := object.ReadAt(format[:], 0); err != nil {
		return nil, err
	}
	b = make([]byte, size+8)
	if n, err := object.ReadAt(b, offset); n < len(b) {
		return nil, err
	}
	body := b[4 : 4+size]
	switch {
	case format[0] != 1:
		return nil, damagedVector(fmt.Errorf("%s is of format %d, not 1", p.name(), format[0]))
	case int64(binary.BigEndian.Uint32(b)) != size:
		return nil, damagedVector(fmt.Errorf("%s has %d bytes at %d, the table's log says %d", p.name(), binary.BigEndian.Uint32(b), offset, size))
	case binary.BigEndian.Uint32(b[4+size:]) != crc32.ChecksumIEEE(body):
		return nil, damagedVector(fmt.Errorf("%s: the checksum is wrong", p.name()))
	}
	return body, nil
}

// parseVector reads the bitmap of a file with the given number of rows: RoaringBitmapArray in its portable form, whose parts
// are bitmaps of 32 bits in the format of the RoaringBitmap specification.
func parseVector(b []byte, cardinality, rows int64) (deletionVector, error) {
	p := vectorParser{b: b, rows: rows, vector: make(deletionVector, (rows+63)/64)}
	if magic := p.u32(); p.err == nil && magic != 1681511377 {
		p.fail("the magic number is %d", magic)
	}
	for n := p.u64(); n > 0 && p.err == nil; n-- {
		p.bitmap(int64(p.u32()) << 32)
	}
	if p.err == nil && len(p.b) > 0 {
		p.fail("%d bytes are left over", len(p.b))
	}
	if count := p.vector.count(0, rows); p.err == nil && count != cardinality {
		p.fail("it deletes %d rows, the table's log says %d", count, cardinality)
	}
	return p.vector, p.err
}

// vectorParser takes integers, in little-endian order, off the front of its bytes. After the first error all are 0.
type vectorParser struct {
	b      []byte
	rows   int64
	vector deletionVector
	err    error
}

func (p *vectorParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = damagedVector(fmt.Errorf(format, args...))
	}
}

func (p *vectorParser) take(n int) []byte {
	if p.err != nil || n > len(p.b) {
		p.fail("it ends too early")
		return make([]byte, min(n, 8))
	}
	taken := p.b[:n]
	p.b = p.b[n:]
	return taken
}

func (p *vectorParser) u16() uint16 { return binary.LittleEndian.Uint16(p.take(2)) }
func (p *vectorParser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *vectorParser) u64() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

func (p *vectorParser) set(row int64) {
	if row >= p.rows {
		p.fail("it deletes row %d of a file of %d", row, p.rows)
		return
	}
	p.vector[row/64] |= 1 << (row % 64)
}

// bitmap reads one bitmap of 32 bits, whose rows are from base on.
func (p *vectorParser) bitmap(base int64) {
	const withoutRuns, withRuns = 12346, 12347 // cookies
	containers := 0
	var runs []byte // a bit for each container
	switch cookie := p.u32(); {
	case p.err != nil:
		return
	case cookie&0xffff == withRuns:
		containers = int(cookie>>16) + 1
		runs = p.take((containers + 7) / 8)
	case cookie == withoutRuns:
		containers = int(p.u32())
	default:
		p.fail("a bitmap begins with %d", cookie)
		return
	}
	if containers > 1<<16 {
		p.fail("a bitmap of %d containers", containers)
		return
	}
	heads := p.take(4 * containers)
	if runs == nil || containers >= 4 {
		p.take(4 * containers) // where each begins, which follows from their lengths
	}
	for i := 0; i < containers && p.err == nil; i++ {
		head := heads[4*i:]
		from := base + int64(binary.LittleEndian.Uint16(head))<<16
		n := int(binary.LittleEndian.Uint16(head[2:])) + 1
		switch {
		case runs != nil && runs[i/8]&(1<<(i%8)) != 0:
			p.runs(from)
		case n <= 4096:
			for ; n > 0 && p.err == nil; n-- {
				p.set(from + int64(p.u16()))
			}
		default:
			p.words(from)
		}
	}
}

func (p *vectorParser) runs(from int64) {
	for n := p.u16(); n > 0 && p.err == nil; n-- {
		first := from + int64(p.u16())
		for last := first + int64(p.u16()); first <= last && p.err == nil; first++ {
			p.set(first)
		}
	}
}

func (p *vectorParser) words(from int64) {
	for i := int64(0); i < 1024 && p.err == nil; i++ {
		for word := p.u64(); word != 0 && p.err == nil; word &= word - 1 {
			p.set(from + i*64 + int64(bits.TrailingZeros64(word)))
		}
	}
}
