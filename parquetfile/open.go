package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Open reads the footer of a file of size bytes. Errors are of the file's content, or of its reader.
func Open(object io.ReaderAt, size int64) (file *parquet.File, err error) {
	defer Recover(&err)
	if err := checkFooter(object, size); err != nil {
		return nil, err
	}
	if file, err = parquet.OpenFile(object, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, err
	}
	return file, checkCodecs(file)
}

// checkCodecs refuses LZ4_RAW: parquet-go gives back other memory than it has decoded into when a page is compressed to
// more than a third.
func checkCodecs(file *parquet.File) error {
	for _, g := range file.Metadata().RowGroups {
		for _, c := range g.Columns {
			if c.MetaData.Codec == format.Lz4Raw {
				return fmt.Errorf("column %s is compressed by LZ4_RAW, which cannot be read; have the engine that wrote the file rewrite it with another codec",
					strings.Join(c.MetaData.PathInSchema, "."))
			}
		}
	}
	return nil
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
