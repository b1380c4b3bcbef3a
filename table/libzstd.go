//go:build cgo

package table

/*
#include <stddef.h>

// Of zstd.h, which stays in the package that the library is compiled with.
typedef struct ZSTD_CCtx_s ZSTD_CCtx;
ZSTD_CCtx *ZSTD_createCCtx(void);
size_t ZSTD_freeCCtx(ZSTD_CCtx *context);
size_t ZSTD_CCtx_setParameter(ZSTD_CCtx *context, int parameter, int value);
size_t ZSTD_compressBound(size_t size);
size_t ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t size);
unsigned ZSTD_isError(size_t code);
const char *ZSTD_getErrorName(size_t code);
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	_ "github.com/DataDog/zstd" // the library
	"github.com/parquet-go/parquet-go/format"
)

// Parameters of the library, by their numbers in zstd.h.
const (
	zstdLevel        = 100
	zstdHashLog      = 102
	zstdMinMatch     = 105
	zstdTargetLength = 106
	zstdLiterals     = 1002
)

// zstdParameter is a parameter of the library with its value.
type zstdParameter struct{ number, value C.int }

// zstdCodec is Zstandard by the C library. A context is memory of C's, less than 1 MiB, which is used again and again. Safe
// for concurrent use.
type zstdCodec struct{ contexts sync.Pool }

// newZstd is the library at the fastest of its ordinary levels: on pages of columns the next ones are hardly smaller, and take twice
// the time. Its hash table fits into a core's nearest cache, which is faster and, when matches have five bytes or more, no larger. The light
// form shortens frequent bytes (Huffman), and hardly looks for what has been there before.
func newZstd() codec {
	fast := []zstdParameter{{zstdLevel, 1}, {zstdHashLog, 12}, {zstdMinMatch, 5}}
	return codec{newZstdCodec(fast...), newZstdCodec(append(fast, zstdParameter{zstdTargetLength, 1 << 17}, zstdParameter{zstdLiterals, 1})...), ".zstd"}
}

func newZstdCodec(parameters ...zstdParameter) *zstdCodec {
	return &zstdCodec{sync.Pool{New: func() any { return newZstdContext(parameters) }}}
}

func (c *zstdCodec) CompressionCodec() format.CompressionCodec { return format.Zstd }

func (c *zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	context := c.contexts.Get().(*zstdContext)
	defer c.contexts.Put(context)
	return context.encode(dst[:0], src)
}

// zstdContext is one of the library's contexts with its parameters. Not safe for concurrent use.
type zstdContext struct {
	of  *C.ZSTD_CCtx
	err error // of the parameters
}

func newZstdContext(parameters []zstdParameter) *zstdContext {
	c := &zstdContext{of: C.ZSTD_createCCtx()}
	if c.of == nil {
		c.err = errors.New("zstd: no memory for a context")
		return c
	}
	runtime.AddCleanup(c, func(of *C.ZSTD_CCtx) { C.ZSTD_freeCCtx(of) }, c.of)
	for _, p := range parameters {
		if err := zstdError(C.ZSTD_CCtx_setParameter(c.of, p.number, p.value)); err != nil && c.err == nil {
			c.err = err
		}
	}
	return c
}

func (c *zstdContext) encode(dst, src []byte) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	dst = slices.Grow(dst, int(C.ZSTD_compressBound(C.size_t(len(src)))))
	n := C.ZSTD_compress2(c.of, unsafe.Pointer(unsafe.SliceData(dst)), C.size_t(cap(dst)), unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src)))
	if err := zstdError(n); err != nil {
		return nil, err
	}
	return dst[:n], nil
}

func zstdError(code C.size_t) error {
	if C.ZSTD_isError(code) == 0 {
		return nil
	}
	return fmt.Errorf("zstd: %s", C.GoString(C.ZSTD_getErrorName(code)))
}
