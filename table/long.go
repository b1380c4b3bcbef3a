package table

import (
	"maps"

	"github.com/parquet-go/parquet-go"
)

const (
	// longValue is the length in bytes beyond which a string or binary is long.
	longValue = 64 << 10
	// longBound is how many UTF-16 units of a long column's values its bounds in a Parquet file have.
	longBound = 16
)

// long is the Parquet type of strings or binaries in a column that has long values. Of other columns a file holds two
// whole values as bounds of each page and each row group, in memory until it is complete; of this one, their beginnings.
// It takes no dictionary, which would go round it.
type long struct{ parquet.Type }

func (l long) NewColumnBuffer(column, values int) parquet.ColumnBuffer {
	return longBuffer{l.Type.NewColumnBuffer(column, values)}
}

type longBuffer struct{ parquet.ColumnBuffer }

func (b longBuffer) Page() parquet.Page { return longPage{b.ColumnBuffer.Page()} }

type longPage struct{ parquet.Page }

func (p longPage) Bounds() (low, high parquet.Value, ok bool) {
	if low, high, ok = p.Page.Bounds(); !ok {
		return low, high, false
	}
	return parquet.ByteArrayValue(lowerBound(low.ByteArray())), parquet.ByteArrayValue(upperBound(high.ByteArray())), true
}

// lowerBound is short and not above v.
func lowerBound(v []byte) []byte {
	v = beginning(v, longBound)
	if text, ok := minPrefix(v, longBound); ok {
		return []byte(text)
	}
	return v
}

// upperBound is not below v, and short unless v begins with nothing but the greatest of characters or bytes.
func upperBound(v []byte) []byte {
	short := beginning(v, longBound)
	if len(short) == len(v) {
		return v
	}
	if text, ok := maxPrefix(short, longBound); ok {
		return []byte(text)
	}
	for i := len(short) - 1; i >= 0; i-- {
		if short[i] < 0xff {
			return append(short[:i:i], short[i]+1)
		}
	}
	return v
}

// longColumns returns the columns, by path, with those that the encoder has found to be long, or nil when it found none.
func (e *encoder) longColumns() map[string]bool {
	var all map[string]bool
	for leaf, found := range e.long {
		if path := e.layout.paths[leaf]; found && !e.layout.long[path] {
			if all == nil {
				all = map[string]bool{}
				maps.Copy(all, e.layout.long)
			}
			all[path] = true
		}
	}
	return all
}
