package json

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/source"
)

// Layout is how a file holds its records.
type Layout string

const (
	// LayoutAuto is decided anew for each file, from its first block; see detect.
	LayoutAuto Layout = "auto"
	// LayoutLines is NDJSON: one record a line.
	LayoutLines Layout = "lines"
	// LayoutArray is one array whose elements are the records.
	LayoutArray Layout = "array"
	// LayoutDocument is JSON values one behind another, over any number of lines: most often a single object.
	LayoutDocument Layout = "document"
)

// FrameOptions are a framer's settings. Zero values are the defaults.
type FrameOptions struct {
	Layout         Layout // LayoutAuto
	MaxRecordBytes int    // 32 MiB; a longer record is a fault
	BlockBytes     int    // about 1 MiB of the file behind one emit, unless a record is longer
	BlockRecords   int    // 8192 records in one emit, at most
}

const (
	defaultMaxRecordBytes = 32 << 20
	defaultBlockBytes     = 1 << 20
	defaultBlockRecords   = 8192
	minBlockBytes         = 16

	// keptBytes bounds what is kept of a record that is too long, or of the rest of a file that can't be cut.
	keptBytes = 64 << 10
)

// Framer cuts files into records. It is a format.Framer, and reuses its buffers from file to file. Not safe for concurrent
// use.
type Framer struct {
	options FrameOptions
	in      input
	block   frameBlock
	blank   int64
}

var _ format.Framer = (*Framer)(nil)

// NewFramer returns a framer, or an error that tells which option is wrong.
func NewFramer(options FrameOptions) (*Framer, error) {
	switch options.Layout {
	case "":
		options.Layout = LayoutAuto
	case LayoutAuto, LayoutLines, LayoutArray, LayoutDocument:
	default:
		return nil, fmt.Errorf("there is no layout %q; write one of auto, lines, array, document", options.Layout)
	}
	if options.MaxRecordBytes < 0 || options.BlockBytes < 0 || options.BlockRecords < 0 {
		return nil, fmt.Errorf("frame json: a size is below 0 (max record bytes %d, block bytes %d, block records %d); leave it out for the default",
			options.MaxRecordBytes, options.BlockBytes, options.BlockRecords)
	}
	options.MaxRecordBytes = orDefault(options.MaxRecordBytes, defaultMaxRecordBytes)
	options.BlockBytes = max(orDefault(options.BlockBytes, defaultBlockBytes), minBlockBytes)
	options.BlockRecords = orDefault(options.BlockRecords, defaultBlockRecords)
	return &Framer{options: options}, nil
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// EmitFunc gets a run of records, as format.Framer says. It may get none, when bytes hold only space.
type EmitFunc = func(values [][]byte, positions []int64, faults []source.Fault, bytes int64) error

// Frame cuts r into records. Positions are lines: that of the record, or that on which the array's element or the value
// begins, so several may share one. The bytes of all emits add up to the length of r. A byte order mark in front is left
// out. What can't be cut into records becomes one record with a fault; only reading can fail.
func (f *Framer) Frame(r io.Reader, emit EmitFunc) error {
	f.in.reset(r, f.options.BlockBytes)
	f.block.reset(emit, f.options.BlockRecords)
	if err := f.in.fill(); err != nil {
		return err
	}
	if bytes.HasPrefix(f.in.rest(), []byte(byteOrderMark)) {
		f.take(len(byteOrderMark))
	}
	layout := f.options.Layout
	if layout == LayoutAuto {
		layout = detect(f.in.rest(), f.in.ended)
	}
	if layout == LayoutLines {
		return f.lines()
	}
	return f.values(layout)
}

// Blank is the number of blank lines left out, over the framer's life.
func (f *Framer) Blank() int64 { return f.blank }

// take moves over n bytes of the input.
func (f *Framer) take(n int) []byte {
	b := f.in.buf[f.in.from : f.in.from+n]
	f.in.from += n
	f.block.bytes += int64(n)
	return b
}

// refill emits what has been cut, since it is about to move, and reads on.
func (f *Framer) refill() error {
	if err := f.block.flush(); err != nil {
		return err
	}
	return f.in.fill()
}

// input is a window on a file.
type input struct {
	r        io.Reader
	size     int // of the window, as long as records fit into it
	buf      []byte
	from, to int
	read     int64
	ended    bool // to is the end of the file
}

func (in *input) reset(r io.Reader, size int) {
	in.r, in.size, in.from, in.to, in.read, in.ended = r, size, 0, 0, 0, false
}

func (in *input) rest() []byte { return in.buf[in.from:in.to] }

// fill reads until the window is full or the file ends. It moves what is left to the front, and makes the window twice as
// large as that when it is more than half of one.
func (in *input) fill() error {
	left := in.rest()
	window := in.size
	for window < 2*len(left) {
		window *= 2
	}
	if cap(in.buf) < window {
		in.buf = append(make([]byte, 0, window), left...)
	} else {
		copy(in.buf[:cap(in.buf)], left)
	}
	in.from, in.to, in.buf = 0, len(left), in.buf[:window]
	for in.to < len(in.buf) {
		n, err := in.r.Read(in.buf[in.to:])
		in.to += n
		in.read += int64(n)
		switch {
		case err == io.EOF:
			in.ended = true
			return nil
		case err != nil: // also io.ErrUnexpectedEOF, of what was cut short: what was read last is no record
			return fmt.Errorf("read behind byte %d: %w", in.read, err)
		}
	}
	return nil
}

// frameBlock gathers records for one emit.
type frameBlock struct {
	emit      EmitFunc
	limit     int
	values    [][]byte
	positions []int64
	faults    []source.Fault
	bytes     int64
}

func (b *frameBlock) reset(emit EmitFunc, limit int) {
	b.emit, b.limit = emit, limit
	b.clear()
}

func (b *frameBlock) clear() {
	b.values, b.positions, b.faults, b.bytes = b.values[:0], b.positions[:0], b.faults[:0], 0
}

func (b *frameBlock) add(value []byte, line int64) error {
	b.values = append(b.values, value)
	b.positions = append(b.positions, line)
	if len(b.values) < b.limit {
		return nil
	}
	return b.flush()
}

func (b *frameBlock) addFault(value []byte, line int64, format string, args ...any) error {
	b.faults = append(b.faults, source.Fault{Index: len(b.values), Reason: fmt.Sprintf(format, args...)})
	return b.add(value, line)
}

func (b *frameBlock) flush() error {
	if len(b.values) == 0 && b.bytes == 0 {
		return nil
	}
	err := b.emit(b.values, b.positions, b.faults, b.bytes)
	b.clear()
	return err
}
