package zorder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// scratch is a file for what does not fit into memory, block by block. It has no name.
type scratch struct {
	file  scratchFile
	bytes int64
}

// scratchFile is an *os.File.
type scratchFile interface {
	io.WriterAt
	io.ReaderAt
	io.Closer
}

// block is where bytes are in a scratch file, and their CRC-32C.
type block struct {
	at, bytes int64
	sum       uint32
}

// newScratch makes a file in a folder that has no name there: the system removes it with the process.
func newScratch(folder string) (scratchFile, error) {
	f, err := os.CreateTemp(folder, ".sluice-scratch-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func (s *scratch) write(b []byte) (block, error) {
	at := block{s.bytes, int64(len(b)), checksum(b)}
	if _, err := s.file.WriteAt(b, at.at); err != nil {
		return at, fmt.Errorf("spill rows to a scratch file: %w; it needs as much room as the rows of a group without compression: choose another folder with --scratch", err)
	}
	s.bytes += at.bytes
	return at, nil
}

// read reads a block into b, which has its length.
func (s *scratch) read(from block, b []byte) error {
	_, err := s.file.ReadAt(b, from.at)
	if err == nil && checksum(b) != from.sum {
		err = errors.New("it is not what was written; look at the disk, or choose another folder with --scratch")
	}
	if err != nil {
		return fmt.Errorf("read back what was spilled to a scratch file, at byte %d: %w; the group stays as it is", from.at, err)
	}
	return nil
}

// appendTo appends the column's values in the form of a block: of each column below as well, how many there are, whether they are in the dictionary, and three
// buffers. All begin at multiples of eight bytes, so that they can be used where they are.
func (c *column) appendTo(b []byte) []byte {
	numbered := uint64(0)
	if c.numbered {
		numbered = 1
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(c.n))
	b = binary.LittleEndian.AppendUint64(b, numbered)
	for _, buffer := range [][]byte{c.valid, c.fixed, c.texts} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(buffer)))
		b = append(b, buffer...)
		b = append(b, make([]byte, -len(buffer)&7)...)
	}
	for _, child := range c.children {
		b = child.appendTo(b)
	}
	return b
}

// columnOf is the column that appendTo wrote, in the memory of b, and what is behind it.
func (s *shape) columnOf(b []byte) (c *column, rest []byte) {
	c = &column{shape: s, n: int(binary.LittleEndian.Uint64(b)), numbered: b[8] == 1}
	b = b[16:]
	for _, buffer := range []*[]byte{&c.valid, &c.fixed, &c.texts} {
		n := int(binary.LittleEndian.Uint64(b))
		*buffer = b[8:][:n:n]
		b = b[8+n+-n&7:]
	}
	for _, child := range s.children {
		var below *column
		below, b = child.columnOf(b)
		c.children = append(c.children, below)
	}
	return c, b
}
