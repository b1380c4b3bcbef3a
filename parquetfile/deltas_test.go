package parquetfile

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"

	"github.com/sluicedata/sluice/internal/parquettest"
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
			if CheckDeltas(b[:end], n, 32) != nil {
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
		if CheckDeltas(b, n+1, 32) == nil || n > 1 && CheckDeltas(b, n-1, 32) == nil {
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
		if err := CheckDeltas(page(c.widths...), values, 32); (err != nil) != c.damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeltasOfAPageThatAreTooWideAreDamaged makes the first width in a page greater than integers have bits: parquet-go reads other values then.
func TestDeltasOfAPageThatAreTooWideAreDamaged(t *testing.T) {
	const rows, width = 100, 6 // the width's place, behind the sizes, the first value and the least difference
	integers := make([]int32, rows)
	for i := range integers {
		integers[i] = int32(i % 5) // numbers, or lengths of texts
	}
	narrow, err := (&delta.BinaryPackedEncoding{}).EncodeInt32(nil, integers)
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int32) parquet.Value { return parquet.Int32Value(n) }
	text := func(n int32) parquet.Value { return parquet.ByteArrayValue([]byte(strings.Repeat("x", int(n)))) }
	different := func(n int32) parquet.Value {
		return parquet.ByteArrayValue([]byte(strings.Repeat(string('a'+rune(n)), int(n)))) // from the one before
	}
	for name, c := range map[string]struct {
		node  parquet.Node
		value func(int32) parquet.Value
		wide  byte
	}{
		"int":     {parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.DeltaBinaryPacked), number, 33},
		"long":    {parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked), func(n int32) parquet.Value { return parquet.Int64Value(int64(n)) }, 65},
		"lengths": {parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray), text, 33},
		"rests":   {parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), different, 33},
	} {
		for version := 1; version <= 2; version++ {
			for _, optional := range []bool{false, true} {
				node, def := c.node, 0
				if optional {
					node, def = parquet.Optional(node), 1
				}
				var b bytes.Buffer
				w := parquet.NewWriter(&b, parquet.NewSchema("deltas", parquet.Group{"c": node}), parquet.DataPageVersion(version))
				for _, n := range integers {
					if _, err := w.WriteRows([]parquet.Row{{c.value(n).Level(0, def, 0)}}); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				file := parquettest.WithoutChecksums(t, b.Bytes())
				if values, err := valuesOf(file); err != nil || len(values) != rows {
					t.Fatalf("%s: %d values, %v", name, len(values), err)
				}
				at := bytes.Index(file, narrow)
				if at < 0 {
					t.Fatalf("%s: the integers are not in the file", name)
				}
				file[at+width] = c.wide
				if values, err := valuesOf(file); !errors.Is(err, ErrDamaged) {
					t.Errorf("%s, version %d of pages, optional %t: %d values, %v", name, version, optional, len(values), err)
				}
			}
		}
	}
}
