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
	BlockBytes     int    // about 256 KiB of the file behind one emit, unless a record is longer
	BlockRecords   int    // 8192 records in one emit, at most
}

const (
	defaultMaxRecordBytes = 32 << 20
	defaultBlockBytes     = 256 << 10
	defaultBlockRecords   = 8192
	minBlockBytes         = 16

	// keptBytes bounds what is kept of a record that is too long, or of the rest of a file that can't be cut.
	keptBytes = 64 << 10
)

// Framer cuts files into records. It is a format.LineFramer.
type Framer struct {
	options FrameOptions
	memory  frameMemory
}

var _ format.LineFramer = (*Framer)(nil)

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
	f := &Framer{options: options}
	f.memory.size = options.BlockBytes
	return f, nil
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// Frame cuts r into records. Positions are lines: that of the record, or that on which the array's element or the value
// begins, so several may share one. A block may have no records, when it covers only space; the bytes of all blocks add up
// to the length of r. A byte order mark in front is left out. What can't be cut into records becomes one record with a fault;
// only reading can fail.
func (f *Framer) Frame(r io.Reader, emit func(*source.Block) error) error {
	cut := f.begin(r, emit)
	defer cut.end()
	return cut.frame()
}

// HeadBytes is how much of a file's beginning says what layout it has.
func (f *Framer) HeadBytes() int { return f.options.BlockBytes }

// HasLines says whether a file that begins with head has one record a line.
func (f *Framer) HasLines(head []byte) bool {
	return f.options.layout(bytes.TrimPrefix(head, []byte(byteOrderMark)), len(head) < f.HeadBytes()) == LayoutLines
}

// FrameLines cuts a part of a file that has lines, from the beginning of one to the end of one. Positions count from the
// part's beginning. It returns how many lines there are.
func (f *Framer) FrameLines(r io.Reader, first bool, emit func(*source.Block) error) (int64, error) {
	cut := f.begin(r, emit)
	defer cut.end()
	if err := cut.in.fill(cut.memory); err != nil {
		return 0, err
	}
	if first {
		cut.mark()
	}
	return cut.lines()
}

func (f *Framer) begin(r io.Reader, emit func(*source.Block) error) *framing {
	return &framing{options: &f.options, memory: &f.memory, emit: emit, block: f.memory.block(), in: input{r: r, window: f.memory.window(f.options.BlockBytes)}}
}

// layout is that of a file which begins with head; whole says that there is no more of it.
func (o *FrameOptions) layout(head []byte, whole bool) Layout {
	if o.Layout == LayoutAuto {
		return detect(head, whole)
	}
	return o.Layout
}

// framing is one file on its way through a Framer.
type framing struct {
	options *FrameOptions
	memory  *frameMemory
	emit    func(*source.Block) error
	block   *frameBlock // being filled
	in      input
}

func (f *framing) frame() error {
	if err := f.in.fill(f.memory); err != nil {
		return err
	}
	f.mark()
	layout := f.options.layout(f.in.rest(), f.in.ended)
	if layout == LayoutLines {
		_, err := f.lines()
		return err
	}
	return f.values(layout)
}

// mark leaves out a byte order mark.
func (f *framing) mark() {
	if bytes.HasPrefix(f.in.rest(), []byte(byteOrderMark)) {
		f.take(len(byteOrderMark))
	}
}

// end gives the memory back.
func (f *framing) end() {
	f.block.Release()
	f.in.window.release()
}

// take moves over n bytes of the input.
func (f *framing) take(n int) []byte {
	b := f.in.window.text[f.in.from : f.in.from+n]
	f.in.from += n
	f.block.Bytes += int64(n)
	return b
}

func (f *framing) add(value []byte, line int64) error {
	f.block.Values = append(f.block.Values, value)
	f.block.Positions = append(f.block.Positions, line)
	if len(f.block.Values) < f.options.BlockRecords {
		return nil
	}
	return f.flush()
}

func (f *framing) addFault(value []byte, line int64, format string, args ...any) error {
	f.block.Faults = append(f.block.Faults, source.Fault{Index: len(f.block.Values), Reason: fmt.Sprintf(format, args...)})
	return f.add(value, line)
}

// flush emits what has been cut.
func (f *framing) flush() error {
	b := f.block
	if len(b.Values) == 0 && b.Bytes == 0 {
		return nil
	}
	f.block = f.memory.block()
	if b.Bytes <= copiedBytes && f.in.ended {
		b.copyText()
	} else {
		b.hold(f.in.window)
	}
	err := f.emit(&b.Block)
	b.Release()
	return err
}

// refill emits what has been cut, since its memory may be needed, and reads on.
func (f *framing) refill() error {
	if err := f.flush(); err != nil {
		return err
	}
	return f.in.fill(f.memory)
}

// input is a window on a file.
type input struct {
	r        io.Reader
	window   *window
	from, to int // in window.text
	read     int64
	ended    bool // to is the end of the file
}

func (in *input) rest() []byte { return in.window.text[in.from:in.to] }

// fill reads until the window is full or the file ends. It moves what is left to the front, of another window when blocks
// hold this one, and makes the window twice as large as that when it is more than half of one.
func (in *input) fill(memory *frameMemory) error {
	left := in.rest()
	size := memory.size
	for size < 2*len(left) {
		size *= 2
	}
	if in.window.held() || len(in.window.text) != size {
		next := memory.window(size)
		copy(next.text, left)
		in.window.release()
		in.window = next
	} else {
		copy(in.window.text, left)
	}
	in.from, in.to = 0, len(left)
	text := in.window.text
	for in.to < len(text) {
		n, err := in.r.Read(text[in.to:])
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
