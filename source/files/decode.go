package files

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is how the bytes of a file are stored, which its name tells.
type encoding int

const (
	plain encoding = iota
	gzipped
	zstandard
	encodings // their number
)

func (e encoding) String() string { return [...]string{"plain", "gzip", "zstd"}[e] }

func encodingOf(name string) encoding {
	switch {
	case hasSuffixFold(name, ".gz"):
		return gzipped
	case hasSuffixFold(name, ".zst"):
		return zstandard
	default:
		return plain
	}
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

const (
	readBuffer = 256 << 10
	// maxWindow is the largest zstd window that is decoded, that of the zstd tool itself unless told otherwise.
	maxWindow = 128 << 20
)

// decoders decode one stream at a time and are used again for the next. The zero value is ready.
type decoders struct {
	buffer *bufio.Reader
	gzip   *gzip.Reader
	zstd   *zstd.Decoder
}

// open returns the decoded bytes of r. What it returned before is no longer valid. The window of a zstd stream takes room
// first.
func (d *decoders) open(ctx context.Context, e encoding, r io.Reader, room *room) (io.Reader, error) {
	switch e {
	case gzipped:
		return d.openGzip(r)
	case zstandard:
		return d.openZstd(ctx, r, room)
	default:
		return r, nil
	}
}

func (d *decoders) buffered(r io.Reader) *bufio.Reader {
	if d.buffer == nil {
		d.buffer = bufio.NewReaderSize(nil, readBuffer)
	}
	d.buffer.Reset(r)
	return d.buffer
}

func (d *decoders) openGzip(r io.Reader) (io.Reader, error) {
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	err := d.gzip.Reset(d.buffered(r))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return d.gzip, err
}

func (d *decoders) openZstd(ctx context.Context, r io.Reader, room *room) (io.Reader, error) {
	if d.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("make a decoder: %w", err)
		}
		d.zstd = z
	}
	stream := d.buffered(r)
	head, err := stream.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err := room.take(ctx, windowOf(head)); err != nil {
		return nil, err
	}
	return d.zstd, d.zstd.Reset(stream)
}

// windowOf is how many bytes a zstd decoder keeps for the frame that begins like this: what its header says, and as much as
// may be when it does not say so.
func windowOf(head []byte) int64 {
	var h zstd.Header
	if err := h.Decode(head); err != nil || h.Skippable {
		return maxWindow
	}
	if h.SingleSegment {
		return int64(min(h.FrameContentSize, maxWindow))
	}
	return int64(min(h.WindowSize, maxWindow))
}
