package parquetfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquet-go decompresses pages of LZ4_RAW into memory that it then lets go of, and seeks without end for memory enough for
// a damaged one (github.com/parquet-go/parquet-go/issues/608); it takes the codec of a column's chunk in the first row group for that
// of all; and it reads damaged differences as other values (see CheckDeltas). Pages of such chunks are decompressed and checked here, and given to a
// twin of the file, whose footer says that they are not compressed.

// needsTwin says whether a column chunk is such.
func (f *File) needsTwin(group, column int) bool {
	groups := f.Metadata().RowGroups
	m := &groups[group].Columns[column].MetaData
	return m.Codec == format.Lz4Raw || m.Codec != groups[0].Columns[column].MetaData.Codec || slices.ContainsFunc(m.Encoding, func(e format.Encoding) bool {
		return e == format.DeltaBinaryPacked || e == format.DeltaLengthByteArray || e == format.DeltaByteArray
	})
}

// plainTwin opens the twin. In it each column chunk begins at 0, and ends where its reader ends.
func plainTwin(file *parquet.File) (*parquet.File, error) {
	footer := *file.Metadata()
	footer.RowGroups = slices.Clone(footer.RowGroups)
	for i := range footer.RowGroups {
		columns := slices.Clone(footer.RowGroups[i].Columns)
		for j := range columns {
			m := &columns[j].MetaData
			m.Codec, m.DataPageOffset, m.DictionaryPageOffset, m.TotalCompressedSize = format.Uncompressed, 0, 0, math.MaxInt64
		}
		footer.RowGroups[i].Columns = columns
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
	file   *File
	column *parquet.Column
	codec  format.CompressionCodec
	limit  *io.LimitedReader // below compressed: what of the chunk is still to be read
	from   *bufio.Reader
	page   net.Buffers // what is left of the one that is being read; its values are in the file's scratch
	at     int64       // where that begins
}

func (f *File) plainChunk(group, column int) (*plainChunk, error) {
	m, start, size, err := f.Chunk(group, column)
	if err != nil {
		return nil, err
	}
	of := f.Root()
	for _, name := range m.PathInSchema {
		if of = of.Column(name); of == nil {
			return nil, ErrDamaged
		}
	}
	limit := &io.LimitedReader{R: io.NewSectionReader(f.object, start, size), N: size}
	return &plainChunk{file: f, column: of, codec: m.Codec, limit: limit, from: bufio.NewReader(limit)}, nil
}

// ReadAt reads from where the last call ended, up to the end of a page at most: the next one is made plain when it is wanted, in the memory of the one
// before.
func (c *plainChunk) ReadAt(b []byte, off int64) (n int, err error) {
	if off != c.at {
		return 0, errors.New("a page refers to a dictionary that is not in front of it")
	}
	if len(c.page) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, _ = c.page.Read(b)
	c.at += int64(n)
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
	levels, values, err := c.body(&header)
	if err != nil {
		return err
	}
	if err := c.check(&header, values); err != nil {
		return err
	}
	header.UncompressedPageSize = int32(len(levels) + len(values)) // whatever it says
	header.CompressedPageSize, header.CRC = header.UncompressedPageSize, 0
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, &header)
	c.page = net.Buffers{head, levels, values}
	return err
}

// body reads a page's bytes and decompresses them, but for the levels of a page of version 2, which lie in front as they are.
func (c *plainChunk) body(header *format.PageHeader) (before, values []byte, err error) {
	size := int64(header.CompressedPageSize)
	if size < 0 || size > c.limit.N+int64(c.from.Buffered()) {
		return nil, nil, ErrDamaged
	}
	f := c.file
	f.compressed = slices.Grow(f.compressed[:0], int(size))[:size]
	if _, err := io.ReadFull(c.from, f.compressed); err != nil {
		return nil, nil, err
	}
	if err := CheckBody(header, f.compressed); err != nil {
		return nil, nil, err
	}
	levels, compressed := 0, true
	if v2, ok := header.DataPageHeaderV2.Get(); ok {
		levels = int(v2.RepetitionLevelsByteLength) + int(v2.DefinitionLevelsByteLength)
		if is, said := v2.IsCompressed.Get(); said {
			compressed = is
		}
	}
	if levels < 0 || levels > len(f.compressed) {
		return nil, nil, ErrDamaged
	}
	if !compressed || levels == len(f.compressed) {
		return f.compressed[:levels], f.compressed[levels:], nil
	}
	f.plain, err = Decompress(f.plain, f.compressed[levels:], c.codec, int(header.UncompressedPageSize)-levels)
	return f.compressed[:levels], f.plain, err
}

// check refuses a data page's values, in version 1 behind its levels, that parquet-go would read as what they are not.
func (c *plainChunk) check(header *format.PageHeader, b []byte) error {
	switch header.Type {
	case format.DataPage:
		for _, most := range []int{c.column.MaxRepetitionLevel(), c.column.MaxDefinitionLevel()} {
			if most == 0 {
				continue
			}
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return ErrDamaged
			}
			b = b[4+binary.LittleEndian.Uint32(b):]
		}
		return c.checkValues(b, header.DataPageHeader.V.NumValues, header.DataPageHeader.V.Encoding)
	case format.DataPageV2:
		return c.checkValues(b, header.DataPageHeaderV2.V.NumValues, header.DataPageHeaderV2.V.Encoding)
	}
	return nil
}

func (c *plainChunk) checkValues(b []byte, most int32, encoding format.Encoding) error {
	bits, runs := 32, 1 // of the lengths of texts
	switch encoding {
	case format.DeltaBinaryPacked:
		if c.column.Type().Kind() == parquet.Int64 {
			bits = 64
		}
	case format.DeltaLengthByteArray:
	case format.DeltaByteArray:
		runs = 2 // how much each has in common with the one before, and how much not
	default:
		return nil
	}
	for ; runs > 0 && len(b) > 0; runs-- {
		var err error
		if _, b, err = passDeltas(b, int(most), bits); err != nil {
			return err
		}
	}
	return nil
}
