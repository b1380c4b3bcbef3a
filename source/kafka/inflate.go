package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The codecs of a batch, as its attributes number them.
const (
	codecGzip   = 1
	codecSnappy = 2
	codecLZ4    = 3
	codecZstd   = 4
)

// maxInflated bounds what is inflated of one response, in bytes.
const maxInflated = math.MaxInt32

var errTooLarge = errors.New("it is too large")

// inflater decompresses batches. Safe for concurrent use.
type inflater struct {
	limit int // bytes of what is appended to, and of what is appended
	gzip  sync.Pool
	zstd  func() (*zstd.Decoder, error)
}

func newInflater(limit int) *inflater {
	return &inflater{
		limit: limit,
		gzip:  sync.Pool{New: func() any { return new(gzip.Reader) }},
		zstd: sync.OnceValues(func() (*zstd.Decoder, error) { // starts nothing, since it reads no stream
			return zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(uint64(limit)))
		}),
	}
}

// Decompress is append for the client's decoder.
func (f *inflater) Decompress(src []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	return f.append(nil, uint16(codec), src)
}

// append appends the decompressed bytes of src to dst.
func (f *inflater) append(dst []byte, codec uint16, src []byte) ([]byte, error) {
	switch codec {
	case codecGzip:
		return f.appendGzip(dst, src)
	case codecSnappy:
		return f.appendSnappy(dst, src)
	case codecLZ4:
		return appendLZ4(dst, src, f.limit)
	case codecZstd:
		d, err := f.zstd()
		if err != nil {
			return nil, err
		}
		return d.DecodeAll(src, dst)
	}
	return nil, fmt.Errorf("codec %d is not known", codec)
}

func (f *inflater) appendGzip(dst, src []byte) ([]byte, error) {
	r := f.gzip.Get().(*gzip.Reader)
	defer f.gzip.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 2*len(src))
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return nil, err
		case len(dst) > f.limit:
			return nil, errTooLarge
		}
	}
}

// xerialHead begins the frame that Java's snappy library writes: the mark, then the version and the oldest one that can read
// it, four bytes each. Blocks follow, each behind its length in four bytes.
var xerialMark = []byte("\x82SNAPPY\x00")

const xerialHead = 16

// appendSnappy takes a frame of blocks, or one block alone.
func (f *inflater) appendSnappy(dst, src []byte) ([]byte, error) {
	if len(src) <= xerialHead || !bytes.HasPrefix(src, xerialMark) {
		return f.appendSnappyBlock(dst, src)
	}
	for src = src[xerialHead:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if size > int64(len(src)) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if dst, err = f.appendSnappyBlock(dst, src[:size]); err != nil {
			return nil, err
		}
		src = src[size:]
	}
	return dst, nil
}

func (f *inflater) appendSnappyBlock(dst, src []byte) ([]byte, error) {
	size, err := s2.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if size > f.limit-len(dst) {
		return nil, errTooLarge
	}
	dst = slices.Grow(dst, size)
	block, err := s2.Decode(dst[len(dst):len(dst)+size], src)
	return dst[:len(dst)+len(block)], err
}
