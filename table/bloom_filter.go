package table

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// bloomProperty names the columns whose chunks have Bloom filters, by commas.
const bloomProperty = "sluice.parquet.bloomFilterColumns"

// bloomBits are the bits that a filter has at least for each of its values: with ten, one value in a hundred that is not there
// seems to be.
const bloomBits = 10

// bloomFault says why a column cannot have a Bloom filter, or nil. Floats cannot, because their zeros are equal and differ, and of a
// list's items no reader asks.
func bloomFault(columns []*column, path string) error {
	c := findColumn(columns, path)
	switch {
	case c == nil:
		return fmt.Errorf("table property %s names %q: the data files have no such column outside of arrays and maps; leave it out", bloomProperty, path)
	case c.typ.Kind == schema.String, c.typ.Kind == schema.Binary, c.typ.Kind == schema.Byte, c.typ.Kind == schema.Short, c.typ.Kind == schema.Integer,
		c.typ.Kind == schema.Long, c.typ.Kind == schema.Date, c.typ.Kind == schema.Timestamp, c.typ.Kind == schema.TimestampNTZ:
		return nil
	default:
		return fmt.Errorf("table property %s names %q, of type %s; only strings, binaries, integers, dates and timestamps have Bloom filters", bloomProperty, path, c.typ)
	}
}

// findColumn finds a column by its path among columns and the fields of structs.
func findColumn(columns []*column, path string) *column {
	for _, c := range columns {
		if c.path == path {
			return c
		}
		if c.typ.Kind == schema.Struct {
			if found := findColumn(c.children, path); found != nil {
				return found
			}
		}
	}
	return nil
}

// checkBloom says why not all columns that the properties name can have Bloom filters, or nil.
func checkBloom(columns []*column, properties map[string]string) error {
	var faults []error
	for _, path := range commitlog.ColumnNames(properties[bloomProperty]) {
		faults = append(faults, bloomFault(columns, path))
	}
	return errors.Join(faults...)
}

// bloomFilter gathers the hashes of a row group's values, each once, until their number says how large the filter has to be. It is an
// open hash table. Not safe for concurrent use.
type bloomFilter struct {
	slots []uint64 // a power of two, at most half of them in use; 0: free
	n     int
	zero  bool   // a hash of 0 was there, which is not in slots
	odd   uint64 // by which hashes are multiplied for their place: nobody can choose values that all want the same
}

func newBloomFilter() *bloomFilter { return &bloomFilter{odd: rand.Uint64() | 1} }

func (f *bloomFilter) memory() int64 { return 8 * int64(cap(f.slots)) }

// add takes in a value in Parquet's PLAIN encoding, texts without their length.
func (f *bloomFilter) add(value []byte) {
	hash := bloom.XXH64{}.Sum64(value)
	if hash == 0 {
		f.zero = true
		return
	}
	if 2*f.n >= len(f.slots) {
		f.grow()
	}
	f.put(hash)
}

func (f *bloomFilter) put(hash uint64) {
	mask := uint64(len(f.slots) - 1)
	at := hash * f.odd >> bits.LeadingZeros64(mask)
	for ; f.slots[at] != 0; at = (at + 1) & mask {
		if f.slots[at] == hash {
			return
		}
	}
	f.slots[at] = hash
	f.n++
}

func (f *bloomFilter) grow() {
	old := f.slots
	f.slots, f.n = make([]uint64, max(firstSlots, 2*len(old))), 0
	for _, hash := range old {
		if hash != 0 {
			f.put(hash)
		}
	}
}

// reset forgets all hashes. A filter that has become large gives its memory back.
func (f *bloomFilter) reset() {
	if f.memory() > spareDictionary {
		f.slots = nil
	}
	clear(f.slots)
	f.n, f.zero = 0, false
}

// writeTo writes the filter with its header (BloomFilter.md, "File Format"): split blocks, whose number is a power of two, because Arrow reads no
// others. Nothing is written when there was no value.
func (f *bloomFilter) writeTo(out *countingWriter) error {
	n := f.n
	if f.zero {
		n++
	}
	if n == 0 {
		return nil
	}
	blocks := bloom.NumSplitBlocksOf(int64(n), bloomBits)
	filter := make(bloom.SplitBlockFilter, 1<<bits.Len(uint(blocks-1)))
	for _, hash := range f.slots {
		if hash != 0 {
			filter.Insert(hash)
		}
	}
	if f.zero {
		filter.Insert(0)
	}
	if err := writeThrift(out, format.BloomFilterHeader{
		NumBytes:    int32(len(filter.Bytes())),
		Algorithm:   format.BloomFilterAlgorithm{Value: &format.SplitBlockAlgorithm{}},
		Hash:        format.BloomFilterHash{Value: &format.XxHash{}},
		Compression: format.BloomFilterCompression{Value: &format.BloomFilterUncompressed{}},
	}); err != nil {
		return err
	}
	_, err := out.Write(filter.Bytes())
	return err
}

// hashed are values that can be in a Bloom filter.
type hashed interface {
	// hash adds the values of the page that is being filled to a filter.
	hash(f *bloomFilter)
}

var (
	_ hashed = (*ints[int64])(nil)
	_ hashed = (*texts)(nil)
)
