package table

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// unbounded is a Parquet type whose column index says of each page that it may hold any value.
//
// parquet-go finds bounds of floats without regard to NaN, which Spark takes for the largest value, and those of decimals in
// byte arrays as if they had no sign. Bounds that are wrong lose rows in readers that prune by them, and a page cannot be
// left out of a column index; so these columns say "anything" there, and carry no bounds in the row group (see
// withoutBounds). The file's bounds in the table's log are computed here and are exact.
type unbounded struct{ parquet.Type }

func (u unbounded) NewColumnIndexer(int) parquet.ColumnIndexer {
	ix := &anythingIndexer{}
	switch u.Kind() {
	case parquet.Float:
		ix.min = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.Inf(-1))))
		ix.max = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.Inf(1))))
	case parquet.Double:
		ix.min = binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(-1)))
		ix.max = binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(1)))
	default:
		ix.max = bytes.Repeat([]byte{0xff}, u.Length())
		ix.max[0] = 0x7f
		ix.min = make([]byte, u.Length())
		ix.min[0] = 0x80
	}
	return ix
}

type anythingIndexer struct {
	min, max []byte
	index    format.ColumnIndex
}

func (ix *anythingIndexer) Reset() { ix.index = format.ColumnIndex{} }

func (ix *anythingIndexer) IndexPage(numValues, numNulls int64, _, _ parquet.Value) {
	onlyNulls := numValues == numNulls
	low, high := ix.min, ix.max
	if onlyNulls {
		low, high = nil, nil
	}
	ix.index.NullPages = append(ix.index.NullPages, onlyNulls)
	ix.index.NullCounts = append(ix.index.NullCounts, numNulls)
	ix.index.MinValues = append(ix.index.MinValues, low)
	ix.index.MaxValues = append(ix.index.MaxValues, high)
}

func (ix *anythingIndexer) ColumnIndex() format.ColumnIndex {
	ix.index.BoundaryOrder = format.Unordered
	return ix.index
}

// withoutBounds are the paths of the columns whose bounds the Parquet writer must not write.
func withoutBounds(s *parquet.Schema) [][]string {
	var paths [][]string
	for _, path := range s.Columns() {
		leaf, ok := s.Lookup(path...)
		if !ok {
			continue
		}
		switch leaf.Node.Type().Kind() {
		case parquet.Float, parquet.Double, parquet.FixedLenByteArray:
			paths = append(paths, path)
		}
	}
	return paths
}
