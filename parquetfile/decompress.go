package parquetfile

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// ErrDamaged is what is wrong with a file whose bytes contradict each other.
var ErrDamaged = errors.New("the Parquet file is damaged; restore it from a copy")

// lz4Most is how many bytes at most become of one that is compressed by LZ4: as many as a byte of a length counts.
const lz4Most = math.MaxUint8

// Decompress returns the size bytes that a page's bytes become by the codec, in dst's memory if that is enough.
func Decompress(dst, src []byte, codec format.CompressionCodec, size int) (plain []byte, err error) {
	if codec == format.Lz4Raw {
		return decompressLZ4(dst, src, size)
	}
	if plain, err = parquet.LookupCompressionCodec(codec).Decode(dst[:0], src); err != nil {
		return nil, fmt.Errorf("decompress a page: %w", err)
	}
	if len(plain) != size {
		return nil, ErrDamaged
	}
	return plain, nil
}

// decompressLZ4 decompresses a block of LZ4, which does not say how long it becomes.
func decompressLZ4(dst, src []byte, size int) ([]byte, error) {
	if size < 0 || size/lz4Most > len(src) {
		return nil, ErrDamaged
	}
	dst = slices.Grow(dst[:0], size)[:size]
	if size == 0 {
		return dst, nil
	}
	if n, err := lz4.UncompressBlock(src, dst); err != nil || n != size {
		return nil, ErrDamaged
	}
	return dst, nil
}
