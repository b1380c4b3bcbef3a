package parquetfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
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
	footer, err := checkedFooter(object, size)
	if err != nil {
		return nil, err
	}
	file = &File{object: object}
	end := &endReader{ReaderAt: object, from: size - int64(len(footer)), end: footer}
	defer func() { end.end = nil }()
	if file.File, err = parquet.OpenFile(end, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
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

// checkedFooter reads a file's footer, with the length and the magic behind it. Lengths and lists in it that go over its end are damage: parquet-go
// would make room for them first.
func checkedFooter(object io.ReaderAt, size int64) ([]byte, error) {
	const behind = 4 + int64(len(magic)) // the footer: its length, and the magic
	if size < int64(len(magic))+behind {
		return nil, fmt.Errorf("the file has %d bytes, too few for Parquet; restore it from a copy", size)
	}
	var tail [behind]byte
	if err := readAt(object, tail[:], size-behind); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-int64(len(magic))-behind {
		return nil, fmt.Errorf("the Parquet file is damaged: a footer of %d bytes in a file of %d; restore it from a copy", n, size)
	}
	footer := make([]byte, n+behind)
	if err := readAt(object, footer, size-n-behind); err != nil {
		return nil, err
	}
	if string(tail[4:]) == magic { // and not encrypted
		r := &compactReader{rest: footer[:n], anyOrder: true}
		if r.skip(compactStruct); r.bad {
			return nil, ErrDamaged
		}
	}
	return footer, nil
}

// endReader reads the end of an object from memory as long as it has it.
type endReader struct {
	io.ReaderAt
	from int64
	end  []byte
}

func (r *endReader) ReadAt(p []byte, off int64) (int, error) {
	if at := off - r.from; at >= 0 && at+int64(len(p)) <= int64(len(r.end)) {
		return copy(p, r.end[at:]), nil
	}
	return r.ReaderAt.ReadAt(p, off)
}

// Recover, deferred, turns a panic into an error: the Parquet decoder answers some damaged files with one.
func Recover(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("the Parquet file is damaged: %v; restore it from a copy", cause)
	}
}
