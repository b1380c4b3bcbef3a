package table

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
)

// TestDeltasAreWholeOrDamaged cuts integers short at each byte: what is let through is read as it was. Another number of values and
// a width above 32 bits are not.
func TestDeltasAreWholeOrDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 11))
	for _, n := range []int{1, 2, 33, 128, 129, 300} {
		values := make([]int32, n)
		for i := range values {
			values[i] = r.Int32N(1<<r.IntN(31)) - r.Int32N(math.MaxInt32)>>r.IntN(31)
		}
		b, err := (&delta.BinaryPackedEncoding{}).EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		for end := range len(b) + 1 {
			if checkDeltas(b[:end], n, 32) != nil {
				if end == len(b) {
					t.Errorf("%d values are damaged", n)
				}
				continue
			}
			got, err := (&delta.BinaryPackedEncoding{}).DecodeInt32(nil, slices.Clone(b[:end]))
			if err != nil || !slices.Equal(got, values) {
				t.Fatalf("%d bytes of %d: %d values, %v", end, len(b), len(got), err)
			}
		}
		if checkDeltas(b, n+1, 32) == nil || n > 1 && checkDeltas(b, n-1, 32) == nil {
			t.Errorf("%d values pass for more, or for fewer", n)
		}
	}
}

func TestDeltasWiderThanTheirIntegersAreDamaged(t *testing.T) {
	const block, miniblocks, values, first, least = 0x80, 4, 34, 0, 0
	page := func(widths ...byte) []byte {
		return append(slices.Concat([]byte{block, 1, miniblocks, values, first, least}, widths), make([]byte, 1000)...)
	}
	for name, c := range map[string]struct {
		widths  []byte
		damaged bool
	}{
		"as wide":                 {[]byte{32, 32, 0, 0}, false},
		"wider":                   {[]byte{33, 0, 0, 0}, true},
		"wider in the second":     {[]byte{0, 33, 0, 0}, true},
		"wider where nothing is":  {[]byte{0, 0, 33, 255}, false},
		"wider than any of 64 is": {[]byte{231, 194, 6, 17}, true},
	} {
		if err := checkDeltas(page(c.widths...), values, 32); (err != nil) != c.damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}
