package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// File is a Parquet file that is open. Not safe for concurrent use.
type File struct {
	*parquet.File
	object io.ReaderAt
	twin   func() (*parquet.File, error) // see plainTwin

	compressed, plain []byte // scratch, of a page
}

// Open reads the footer of a file of size bytes. Errors are of the file's content, or of its reader.
func Open(object io.ReaderAt, size int64) (file *File, err error) {
	defer Recover(&err)
	if err := checkFooter(object, size); err != nil {
		return nil, err
	}
	file = &File{object: object}
	if file.File, err = parquet.OpenFile(object, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, err
	}
	file.twin = sync.OnceValues(func() (*parquet.File, error) { return plainTwin(file.File) })
	return file, nil
}

// Chunk is what the footer says of a column's pages in a row group, and where in the file they are.
func (f *File) Chunk(group, column int) (m *format.ColumnMetaData, start, size int64, err error) {
	m = &f.Metadata().RowGroups[group].Columns[column].MetaData
	start, size, err = chunkRange(m.DataPageOffset, m.DictionaryPageOffset, m.TotalCompressedSize, f.Size())
	return m, start, size, err
}

// ColumnIndex reads the bounds of the pages of a column chunk (parquet.thrift, ColumnIndex); nil if the file has none.
func (f *File) ColumnIndex(group, column int) (index *format.ColumnIndex, err error) {
	defer Recover(&err)
	c := &f.Metadata().RowGroups[group].Columns[column]
	if c.ColumnIndexOffset <= 0 || c.ColumnIndexLength <= 0 {
		return nil, nil
	}
	if int64(c.ColumnIndexLength) > f.Size()-c.ColumnIndexOffset {
		return nil, ErrDamaged
	}
	b := make([]byte, c.ColumnIndexLength)
	if _, err := f.object.ReadAt(b, c.ColumnIndexOffset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	index = &format.ColumnIndex{}
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b, index); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return index, nil
}

// Pages begins in front of a column's pages in a row group.
func (f *File) Pages(group, column int) (parquet.Pages, error) {
	if !f.needsTwin(group, column) {
		return f.RowGroups()[group].ColumnChunks()[column].Pages(), nil
	}
	from, err := f.plainChunk(group, column)
	if err != nil {
		return nil, err
	}
	twin, err := f.twin()
	if err != nil {
		return nil, err
	}
	return twin.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk).PagesFrom(from), nil
}

// checkFooter holds the footer's length against the file's before anything is allocated for it.
func checkFooter(object io.ReaderAt, size int64) error {
	var tail [8]byte // of a footer: its length, and the magic
	if size < int64(len("PAR1")+len(tail)) {
		return fmt.Errorf("the file has %d bytes, too few for Parquet; restore it from a copy", size)
	}
	if _, err := object.ReadAt(tail[:], size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:4])); n > size-int64(len("PAR1")+len(tail)) {
		return fmt.Errorf("the Parquet file is damaged: a footer of %d bytes in a file of %d; restore it from a copy", n, size)
	}
	return nil
}

// Recover, deferred, turns a panic into an error: the Parquet decoder answers some damaged files with one.
func Recover(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("the Parquet file is damaged: %v; restore it from a copy", cause)
	}
}
