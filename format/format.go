// Package format turns the bytes of records into columns.
//
// A Decoder is made for one list of Columns and appends the records of source blocks to Arrow builders of exactly that
// layout; a record that does not fit goes to a function with its position and the reason, and leaves no trace in the
// columns. A Framer cuts a file into records. format/json is the first of both.
//
// Invariants:
//
//   - A value is stored exactly or its record is bad: no rounding, no wrapping, no default, no replacement character.
//   - Decoding is a function of the bytes and the columns alone.
package format

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

// Column says where a column's values come from.
type Column struct {
	Name     string
	Type     *schema.Type
	Nullable bool
	// From is the path of the value in the record; see ParsePath. Empty means the field called Name.
	From Path
	// Meta names a value that the source brings beside the record ("kafka.offset", "file.path"); then From is empty.
	Meta string
}

// Bad is a record that could not be decoded. Value is valid only until the function that got it returns.
type Bad struct {
	Partition string
	Position  int64
	Column    string // empty when the record as a whole is at fault
	Reason    string
	Value     []byte
}

// Decoder appends records to columns. Not safe for concurrent use.
type Decoder interface {
	// Decode appends the block's good records and hands its bad ones to bad, in order. An error of bad ends it and is
	// returned as it is.
	Decode(b *source.Block, bad func(Bad) error) error
	// Rows is the number of rows since the last Flush.
	Rows() int
	// Bytes is what these rows take in memory.
	Bytes() int64
	// Flush returns these rows, in the columns' order, and begins anew. Strings, at any depth, may be in an Arrow dictionary with indices of 32
	// bits, and may be so in one record and not in the next. The caller releases the record.
	Flush() arrow.Record
	// Unknown counts, over the decoder's life, the fields of records that no column takes, by path.
	Unknown() map[string]int64
	// Tombstones counts, over the decoder's life, the Kafka records without a value that were left out as configured.
	Tombstones() int64
}

// Framer cuts a stream into records. It calls emit with blocks of which it sets Values, Positions (line numbers from 1),
// Faults, and Bytes: how much of r the block covers. Like a source's they are valid until emit returns, or, if retained,
// until they are released. Safe for concurrent use.
type Framer interface {
	Frame(r io.Reader, emit func(*source.Block) error) error
}

// LineFramer is a Framer that can cut parts of a file each by itself, where records are lines.
type LineFramer interface {
	Framer
	// HasLines says whether records are the lines of a file that begins with head: its first HeadBytes, or fewer when that
	// is all of it.
	HasLines(head []byte) bool
	HeadBytes() int
	// FrameLines is Frame for some of the lines of such a file; first says that they are the first ones. Positions count
	// from 1 within them. It returns how many lines there are.
	FrameLines(r io.Reader, first bool, emit func(*source.Block) error) (lines int64, err error)
}

// Inferrer learns columns from records.
type Inferrer interface {
	Infer(b *source.Block) error
	// Columns returns what was learned, and notices about names that had to be changed.
	Columns() (columns []Column, notices []string, err error)
}
