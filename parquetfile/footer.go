package parquetfile

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// Footer is what of a file's footer says where its pages are and who wrote them. It is valid until another is read into it.
type Footer struct {
	Schema    []byte // the elements as they are encoded: where they are the same, the files have the same columns
	CreatedBy []byte
	Rows      int64
	Groups    []Group

	size  int64 // of the file
	bytes []byte
}

// Group is a row group.
type Group struct {
	Rows   int64
	Chunks []Chunk
}

// Chunk is the column chunk of a leaf in a row group.
type Chunk struct {
	Codec     format.CompressionCodec
	Values    int64  // absent ones included
	PageTypes uint64 // a bit for each format.PageType; 0: the file does not tell
	Encodings uint64 // of pages: a bit for each format.Encoding

	data, dictionary, size int64
}

const magic = "PAR1"

// Read reads the footer of a file of size bytes. It is false for one of a form that only Open knows, or can tell the damage of: of files that are encrypted or
// in parts, for instance. Errors are the reader's.
func (f *Footer) Read(object io.ReaderAt, size int64) (ok bool, err error) {
	var tail [4 + len(magic)]byte // the footer's length, and the magic
	if size < int64(len(magic)+len(tail)) {
		return false, nil
	}
	if err := readAt(object, tail[:], size-int64(len(tail))); err != nil {
		return false, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != magic || n > size-int64(len(magic)+len(tail)) {
		return false, nil
	}
	f.bytes = slices.Grow(f.bytes[:0], int(n))[:n]
	if err := readAt(object, f.bytes, size-int64(len(tail))-n); err != nil {
		return false, err
	}
	return f.parse(f.bytes, size), nil
}

// readAt fills b, whose end may be the file's.
func readAt(object io.ReaderAt, b []byte, off int64) error {
	if n, err := object.ReadAt(b, off); n < len(b) {
		return err
	}
	return nil
}

// Range is where in the file the chunk of a leaf in a row group is.
func (f *Footer) Range(group, leaf int) (start, size int64, err error) {
	c := &f.Groups[group].Chunks[leaf]
	return chunkRange(c.data, c.dictionary, c.size, f.size)
}

// chunkRange is where the pages of a chunk are in a file of so many bytes. The dictionary's offset is 0 where there is none.
func chunkRange(data, dictionary, size, file int64) (start, n int64, err error) {
	if start = data; dictionary > 0 {
		start = min(start, dictionary)
	}
	if start < 0 || size < 0 || start > file || size > file-start {
		return 0, 0, ErrDamaged
	}
	return start, size, nil
}

// Fields are read by their ids in parquet.thrift. Those that a file has to have are below zero before they are read.

func (f *Footer) parse(b []byte, size int64) bool {
	r := &compactReader{rest: b}
	*f = Footer{Rows: -1, Groups: f.Groups[:0], size: size, bytes: f.bytes}
	grouped := false
	r.structure(compactStruct, func(id int, t byte) {
		switch id {
		case 2: // schema
			rest := r.rest
			r.skip(t)
			f.Schema = rest[:len(rest)-len(r.rest)]
		case 3: // num_rows
			f.Rows = r.long(t)
		case 4: // row_groups
			grouped = true
			r.list(t, func(t byte) { f.group(r, t) })
		case 6: // created_by
			f.CreatedBy = r.binary(t)
		case 8, 9: // encryption_algorithm, footer_signing_key_metadata
			r.fail()
		default:
			r.skip(t)
		}
	})
	return !r.bad && len(r.rest) == 0 && len(f.Schema) > 0 && grouped && f.Rows >= 0
}

// group reads a RowGroup, into memory of one that was read before where there is some.
func (f *Footer) group(r *compactReader, t byte) {
	n := len(f.Groups)
	f.Groups = slices.Grow(f.Groups, 1)[:n+1]
	g := &f.Groups[n]
	*g = Group{Rows: -1, Chunks: g.Chunks[:0]}
	r.structure(t, func(id int, t byte) {
		switch id {
		case 1: // columns
			r.list(t, func(t byte) { g.chunk(r, t) })
		case 3: // num_rows
			g.Rows = r.long(t)
		default:
			r.skip(t)
		}
	})
	if g.Rows < 0 {
		r.fail()
	}
}

// chunk reads a ColumnChunk.
func (g *Group) chunk(r *compactReader, t byte) {
	c := Chunk{Codec: -1, Values: -1, data: -1, size: -1}
	r.structure(t, func(id int, t byte) {
		switch id {
		case 3: // meta_data
			c.metadata(r, t)
		case 1, 8, 9: // file_path, crypto_metadata, encrypted_column_metadata
			r.fail()
		default:
			r.skip(t)
		}
	})
	if c.Codec < 0 || c.Values < 0 || c.data < 0 || c.size < 0 {
		r.fail()
	}
	g.Chunks = append(g.Chunks, c)
}

// metadata reads a ColumnMetaData.
func (c *Chunk) metadata(r *compactReader, t byte) {
	r.structure(t, func(id int, t byte) {
		switch id {
		case 4: // codec
			c.Codec = format.CompressionCodec(r.integer(t))
		case 5: // num_values
			c.Values = r.long(t)
		case 7: // total_compressed_size
			c.size = r.long(t)
		case 9: // data_page_offset
			c.data = r.long(t)
		case 11: // dictionary_page_offset
			c.dictionary = r.long(t)
		case 13: // encoding_stats
			r.list(t, func(t byte) { c.pages(r, t) })
		default:
			r.skip(t)
		}
	})
}

// pages reads a PageEncodingStats.
func (c *Chunk) pages(r *compactReader, t byte) {
	r.structure(t, func(id int, t byte) {
		switch id {
		case 1: // page_type
			c.PageTypes |= r.bit(t)
		case 2: // encoding
			c.Encodings |= r.bit(t)
		default:
			r.skip(t)
		}
	})
}

// bit reads an enumeration's value, as the bit of its number.
func (r *compactReader) bit(t byte) uint64 {
	v := r.integer(t)
	if v < 0 || v > 63 {
		r.fail()
		return 0
	}
	return 1 << v
}
