package kafka

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestNumbersOfAnyLength holds number, wherever it ends and whatever comes behind, against encoding/binary.
func TestNumbersOfAnyLength(t *testing.T) {
	var numbers []int64
	for bit := range 63 {
		for _, v := range []int64{1<<bit - 1, 1 << bit} {
			numbers = append(numbers, v, -v)
		}
	}
	for _, v := range append(numbers, math.MaxInt64, math.MinInt64) {
		text := binary.AppendVarint([]byte{0xff, 0xff}, v)
		for more := range 10 {
			b := append(bytes.Clone(text), bytes.Repeat([]byte{0xff}, more)...)
			if got, end := varlong(b, 2); got != v || end != len(text) {
				t.Fatalf("varlong of %d with %d bytes behind: %d, to %d of %d", v, more, got, end, len(text))
			}
			got, end := varint(b, 2)
			if fits := v >= math.MinInt32 && v <= math.MaxInt32; fits && (got != v || end != len(text)) || !fits && end <= len(b) {
				t.Fatalf("varint of %d with %d bytes behind: %d, to %d of %d", v, more, got, end, len(text))
			}
		}
		for cut := 2; cut < len(text); cut++ {
			if _, end := varlong(text[:cut], 2); end <= cut {
				t.Fatalf("%d, cut to %d bytes, ends at %d", v, cut, end)
			}
		}
	}
}

func TestFieldsAreBoundedByWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		b     string
		at    int
		value []byte
		end   int
	}{
		{"\x04ab...", 0, []byte("ab"), 3},
		{"..\x00.......", 2, []byte{}, 3},
		{"\x01..", 0, nil, 1},
		{"\x04a", 0, nil, 3},
		{"\x04ab", 4, nil, 4},
		{"\xff\xff\xff\xff\x0f.......", 0, nil, 5}, // the least length there is
		{"\xfe\xff\xff\xff\x0f.......", 0, nil, 13},
	} {
		value, end := field([]byte(c.b), c.at)
		if end != c.end || !bytes.Equal(value, c.value) || (value == nil) != (c.value == nil) {
			t.Errorf("%q at %d: %q, to %d; want %q, to %d", c.b, c.at, value, end, c.value, c.end)
		}
	}
}
