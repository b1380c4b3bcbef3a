//go:build !cgo

package table

import "github.com/parquet-go/parquet-go"

// newZstd is Zstandard in Go, for programs without C.
func newZstd() codec { return codec{&parquet.Zstd, nil, ".zstd"} }
