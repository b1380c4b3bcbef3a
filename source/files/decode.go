package files

import (
	"bufio"
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

// open returns the decoded bytes of r. What it returned before is no longer valid.
func (d *decoders) open(e encoding, r io.Reader) (io.Reader, error) {
	switch e {
	case gzipped:
		return d.openGzip(r)
	case zstandard:
		return d.openZstd(r)
	default:
		return r, nil
	}
}

func (d *decoders) openGzip(r io.Reader) (io.Reader, error) {
	if d.buffer == nil {
		d.buffer = bufio.NewReaderSize(nil, readBuffer)
		d.gzip = new(gzip.Reader)
	}
	d.buffer.Reset(r)
	err := d.gzip.Reset(d.buffer)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return d.gzip, err
}

func (d *decoders) openZstd(r io.Reader) (io.Reader, error) {
	if d.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("make a decoder: %w", err)
		}
		d.zstd = z
	}
	return d.zstd, d.zstd.Reset(r)
}

func (d *decoders) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
	*d = decoders{}
}
