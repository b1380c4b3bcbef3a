package parquetfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquet-go decompresses pages of LZ4_RAW into memory that it then lets go of, and seeks without end for memory enough for
// a damaged one (github.com/parquet-go/parquet-go/issues/608); and it takes the codec of a column's chunk in the first row group for that
// of all. Pages of such files are decompressed here, and given to a twin of the file, whose footer says that they are not compressed.

// plainTwin opens the twin; it is nil for a file that needs none. The twin of a column chunk begins at 0, and ends where its reader ends.
func plainTwin(file *parquet.File) (*parquet.File, error) {
	footer := *file.Metadata()
	footer.RowGroups = slices.Clone(footer.RowGroups)
	needed := false
	for i := range footer.RowGroups {
		columns := slices.Clone(footer.RowGroups[i].Columns)
		for j := range columns {
			m := &columns[j].MetaData
			needed = needed || m.Codec == format.Lz4Raw || m.Codec != file.Metadata().RowGroups[0].Columns[j].MetaData.Codec
			m.Codec, m.DataPageOffset, m.DictionaryPageOffset, m.TotalCompressedSize = format.Uncompressed, 0, 0, math.MaxInt64
		}
		footer.RowGroups[i].Columns = columns
	}
	if !needed {
		return nil, nil
	}
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, &footer)
	if err != nil {
		return nil, err
	}
	whole := slices.Concat([]byte("PAR1"), b, binary.LittleEndian.AppendUint32(nil, uint32(len(b))), []byte("PAR1"))
	return parquet.OpenFile(bytes.NewReader(whole), int64(len(whole)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// plainChunk is the pages of a column chunk as they are when they are not compressed. It is read from the front to the end.
type plainChunk struct {
	codec format.CompressionCodec
	limit *io.LimitedReader // below compressed: what of the chunk is still to be read
	from  *bufio.Reader
	page  []byte // that is being read: header and body
	at    int64  // of page's first byte that has not been read

	compressed, plain []byte // scratch
}

func newPlainChunk(object io.ReaderAt, start, size int64, codec format.CompressionCodec) *plainChunk {
	limit := &io.LimitedReader{R: io.NewSectionReader(object, start, size), N: size}
	return &plainChunk{codec: codec, limit: limit, from: bufio.NewReader(limit)}
}

// ReadAt reads from where the last call ended.
func (c *plainChunk) ReadAt(b []byte, off int64) (n int, err error) {
	if off != c.at {
		return 0, errors.New("a page refers to a dictionary that is not in front of it")
	}
	for n < len(b) {
		if len(c.page) == 0 {
			if err := c.next(); err != nil {
				return n, err
			}
		}
		part := copy(b[n:], c.page)
		c.page = c.page[part:]
		c.at += int64(part)
		n += part
	}
	return n, nil
}

// next makes the next page plain; io.EOF at the end of the chunk.
func (c *plainChunk) next() error {
	if _, err := c.from.Peek(1); err != nil {
		return err
	}
	var header format.PageHeader
	if err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(c.from)).Decode(&header); err != nil {
		return err
	}
	body, err := c.body(&header)
	if err != nil {
		return err
	}
	header.CompressedPageSize, header.CRC = header.UncompressedPageSize, 0
	if c.page, err = thrift.Marshal(&thrift.CompactProtocol{}, &header); err != nil {
		return err
	}
	c.page = append(c.page, body...)
	return nil
}

// body reads a page's bytes and decompresses them, but for the levels of a page of version 2, which lie in front as they are.
func (c *plainChunk) body(header *format.PageHeader) ([]byte, error) {
	size := int64(header.CompressedPageSize)
	if size < 0 || size > c.limit.N+int64(c.from.Buffered()) {
		return nil, ErrDamaged
	}
	c.compressed = slices.Grow(c.compressed[:0], int(size))[:size]
	if _, err := io.ReadFull(c.from, c.compressed); err != nil {
		return nil, err
	}
	if header.CRC != 0 && crc32.ChecksumIEEE(c.compressed) != uint32(header.CRC) {
		return nil, ErrDamaged
	}
	levels, compressed := 0, true
	if v2, ok := header.DataPageHeaderV2.Get(); ok {
		levels = int(v2.RepetitionLevelsByteLength) + int(v2.DefinitionLevelsByteLength)
		if is, said := v2.IsCompressed.Get(); said {
			compressed = is
		}
	}
	if levels < 0 || levels > len(c.compressed) {
		return nil, ErrDamaged
	}
	if !compressed {
		return c.compressed, nil
	}
	var err error
	c.plain, err = Decompress(c.plain, c.compressed[levels:], c.codec, int(header.UncompressedPageSize)-levels)
	return slices.Concat(c.compressed[:levels], c.plain), err
}
