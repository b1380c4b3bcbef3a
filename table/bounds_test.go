package table

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStringBoundsAreThoseOfASortedList has texts of few different bytes, so that many begin alike, or are the beginning of others.
func TestStringBoundsAreThoseOfASortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 14))
	for range 2000 {
		b := stringBounds{units: limitUnits}
		var texts [][]byte
		common := bytes.Repeat([]byte("x"), r.IntN(12))
		for range 1 + r.IntN(12) {
			text := bytes.Clone(common[:len(common)-r.IntN(1+len(common))/4])
			for range r.IntN(20) {
				text = append(text, "\x00\x01az\xff"[r.IntN(5)])
			}
			texts = append(texts, text)
			b.take(text)
		}
		slices.SortFunc(texts, bytes.Compare)
		if !bytes.Equal(b.min, texts[0]) || !bytes.Equal(b.max, texts[len(texts)-1]) {
			t.Fatalf("bounds %q and %q of %q", b.min, b.max, texts)
		}
	}
}
