//go:build cgo

package table

import (
	"sync"

	"github.com/DataDog/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// zstdLevel is the C library's fastest of its ordinary levels: on pages of columns the next ones are hardly smaller, and take
// twice the time.
const zstdLevel = 1

// zstdCodec is Zstandard by the C library. A context is memory of C's, about 1 MiB, which is used again and again. Safe for
// concurrent use.
type zstdCodec struct{ contexts sync.Pool }

func newZstd() compressor {
	return &zstdCodec{sync.Pool{New: func() any { return zstd.NewCtx() }}}
}

func (c *zstdCodec) CompressionCodec() format.CompressionCodec { return format.Zstd }

func (c *zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	context := c.contexts.Get().(zstd.Ctx)
	defer c.contexts.Put(context)
	return context.CompressLevel(dst[:0], src, zstdLevel)
}
