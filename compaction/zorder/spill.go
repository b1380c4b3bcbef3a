package zorder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
)

const (
	blockBytes = 64 << 10 // of rows
	leastRuns  = 2        // that are merged at a time, however little memory there is
	mostRuns   = 256      // and however much: each is an open file
)

// spilledRun is a sorted run in a scratch file, in blocks: two numbers of four bytes (the length of the rows, and their CRC-32C), then
// rows. A row is its key, eight bytes, its length, four, and its bytes. They are not compressed: Snappy
// took a quarter of the whole work.
type spilledRun struct {
	file  scratchFile
	bytes int64
}

// scratchFile is an *os.File.
type scratchFile interface {
	io.WriterAt
	io.ReaderAt
	io.Closer
}

const headerBytes = 8

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

// spill writes rows to a scratch file.
func (s *sorter) spill(rows source) (*spilledRun, error) {
	f, err := s.scratch()
	if err != nil {
		return nil, fmt.Errorf("spill rows to a scratch file: %w", err)
	}
	r := &spilledRun{file: f}
	if err := r.write(rows); err != nil {
		err = fmt.Errorf("spill rows to a scratch file: %w; it needs as much room as the rows of a group without compression: choose another folder with --scratch", err)
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *spilledRun) write(rows source) error {
	block := make([]byte, headerBytes, blockBytes+blockBytes/4)
	for {
		key, row, ok, err := rows()
		if err != nil {
			return err
		}
		if len(block) >= blockBytes || !ok && len(block) > headerBytes {
			if err := r.end(block); err != nil {
				return err
			}
			block = block[:headerBytes]
		}
		if !ok {
			return nil
		}
		block = binary.LittleEndian.AppendUint64(block, key)
		block = binary.LittleEndian.AppendUint32(block, uint32(len(row)))
		block = append(block, row...)
	}
}

// end writes a block, whose header is still to be filled in.
func (r *spilledRun) end(block []byte) error {
	rows := block[headerBytes:]
	if len(rows) > math.MaxUint32 {
		return fmt.Errorf("a row of %d bytes is too large", len(rows))
	}
	binary.LittleEndian.PutUint32(block, uint32(len(rows)))
	binary.LittleEndian.PutUint32(block[4:], crc32.Checksum(rows, crc32.MakeTable(crc32.Castagnoli)))
	_, err := r.file.WriteAt(block, r.bytes)
	r.bytes += int64(len(block))
	return err
}

// rows reads the run from its beginning.
func (r *spilledRun) rows() source {
	reader := &runReader{run: r}
	return reader.next
}

type runReader struct {
	run  *spilledRun
	at   int64
	rows []byte // of a block
	rest []byte // of them, that are still to be told
}

func (r *runReader) next() (key uint64, row []byte, ok bool, err error) {
	if len(r.rest) == 0 {
		if r.at == r.run.bytes {
			return 0, nil, false, nil
		}
		if err := r.read(); err != nil {
			return 0, nil, false, fmt.Errorf("read back what was spilled to a scratch file, at byte %d: %w; the group stays as it is", r.at, err)
		}
	}
	key = binary.LittleEndian.Uint64(r.rest)
	row, r.rest = cutRow(r.rest[8:])
	return key, row, true, nil
}

// cutRow returns a row that has its length, of four bytes, in front, and what is behind it.
func cutRow(b []byte) (row, rest []byte) {
	n := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:n], b[n:]
}

// read reads the next block.
func (r *runReader) read() error {
	var header [headerBytes]byte
	if _, err := r.run.file.ReadAt(header[:], r.at); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(header[:]))
	if length == 0 || length > r.run.bytes-r.at-headerBytes {
		return errChanged
	}
	r.rows = slices.Grow(r.rows[:0], int(length))[:length]
	if _, err := r.run.file.ReadAt(r.rows, r.at+headerBytes); err != nil {
		return err
	}
	if crc32.Checksum(r.rows, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(header[4:]) {
		return errChanged
	}
	r.rest = r.rows
	r.at += headerBytes + length
	return nil
}

var errChanged = errors.New("it is not what was written; look at the disk, or choose another folder with --scratch")
