package table

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// Properties that say how a table's data files are written.
const (
	codecProperty    = "delta.parquet.compression.codec"
	encodingProperty = "sluice.parquet.encoding"
)

// codec is a compression as a table may ask for it.
type codec struct {
	compressor
	light compressor // of pages that it makes hardly larger, in less time; nil: there is none
	infix string     // in file names: ".snappy"
}

// compressor makes bytes compressed pages.
type compressor interface {
	CompressionCodec() format.CompressionCodec
	// Encode returns src compressed, in dst's memory if that is enough.
	Encode(dst, src []byte) ([]byte, error)
}

// compresses says whether a codec of Parquet's is that of a compressor.
func compresses(c compressor, as format.CompressionCodec) bool {
	return c != nil && c.CompressionCodec() == as
}

// codecOf returns the codec that the table's properties ask for: snappy unless they say otherwise. zstd is that which they get
// if they ask for it.
func codecOf(properties map[string]string, zstd codec) (codec, error) {
	switch name := strings.ToLower(properties[codecProperty]); name {
	case "", "snappy":
		return codec{fastSnappy{}, stored{}, ".snappy"}, nil
	case "zstd":
		return zstd, nil
	case "lz4_raw", "lz4raw": // as Parquet and as Spark call it
		return codec{lz4Codec{}, stored{}, ".lz4raw"}, nil
	case "gzip":
		return codec{&parquet.Gzip, nil, ".gz"}, nil
	case "uncompressed", "none":
		return codec{stored{}, nil, ""}, nil
	default:
		return codec{}, fmt.Errorf("table property %s is %q; set it to snappy, zstd, lz4_raw, gzip or uncompressed", codecProperty, name)
	}
}

// compactOf says whether numbers and texts are stored as differences and lengths (DELTA_BINARY_PACKED,
// DELTA_LENGTH_BYTE_ARRAY), which is smaller and faster, or as every reader knows them (PLAIN), the default. Texts of which
// few are different are in a dictionary either way.
func compactOf(properties map[string]string) (bool, error) {
	switch name := strings.ToLower(properties[encodingProperty]); name {
	case "", "compatible":
		return false, nil
	case "compact":
		return true, nil
	default:
		return false, fmt.Errorf("table property %s is %q; set it to compatible or compact", encodingProperty, name)
	}
}

// fastSnappy is Snappy by the encoder that trades a few percent of size for more than twice the speed of parquet-go's. As that of
// Snappy's authors it looks for what was there before in pieces of 64 KiB each, which is faster than to look in all of a page.
type fastSnappy struct{}

const snappyPiece = 64 << 10

func (fastSnappy) CompressionCodec() format.CompressionCodec { return format.Snappy }

func (fastSnappy) Encode(dst, src []byte) ([]byte, error) {
	dst = slices.Grow(dst[:0], s2.MaxEncodedLen(len(src))) // and more in the end where it does not become shorter
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	for piece := range slices.Chunk(src, snappyPiece) {
		dst = slices.Grow(dst, s2.MaxEncodedLen(len(piece)))
		// The elements are made behind a length of the piece, which lies where the bytes before have their place again afterwards.
		var length, before [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(len(piece)))
		at := len(dst) - n
		copy(before[:n], dst[at:])
		made := s2.EncodeSnappy(dst[at:cap(dst)], piece)
		copy(made, before[:n])
		dst = dst[:at+len(made)]
	}
	return dst, nil
}

// lz4Codec is LZ4_RAW: a block of LZ4 without a frame around it.
type lz4Codec struct{}

func (lz4Codec) CompressionCodec() format.CompressionCodec { return format.Lz4Raw }
func (lz4Codec) Encode(dst, src []byte) ([]byte, error) {
	dst = slices.Grow(dst[:0], lz4.CompressBlockBound(len(src)))
	n, err := lz4.CompressBlock(src, dst[:cap(dst)], nil)
	return dst[:n], err
}

// stored leaves bytes as they are.
type stored struct{}

func (stored) CompressionCodec() format.CompressionCodec { return format.Uncompressed }
func (stored) Encode(dst, src []byte) ([]byte, error)    { return append(dst[:0], src...), nil }
