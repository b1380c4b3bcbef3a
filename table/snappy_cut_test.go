package table

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
)

// pageOf is a page's body: levels of so many bytes with their length in front, and values that compress somewhat.
func pageOf(r *rand.Rand, levels, values int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(levels))
	for range levels {
		b = append(b, byte(r.IntN(3)))
	}
	for range values {
		b = binary.LittleEndian.AppendUint64(b, 1_000_000_000+uint64(r.IntN(1<<r.IntN(20))))
	}
	return b
}

// before is what the values of a page that is cut come behind.
var before = []byte("whatever comes before")

func cutBehind(block []byte, levelled bool) (snappyCut, bool) {
	return cutSnappy(block, levelled, appendSnappyLiteral(nil, before), nil)
}

// checkCut compares what is cut with what the block decodes to.
func checkCut(t *testing.T, c snappyCut, whole []byte) {
	t.Helper()
	block := append(binary.AppendUvarint(nil, uint64(len(before)+c.size)), c.elements...)
	values, err := s2.Decode(nil, block)
	if err != nil || !bytes.HasPrefix(values, before) {
		t.Fatalf("%d bytes of %d behind others: %v", len(values), len(whole), err)
	}
	if got := append(bytes.Clone(c.levels), values[len(before):]...); !bytes.Equal(got, whole) {
		t.Errorf("%d bytes in two are not the %d of the block", len(got), len(whole))
	}
}

func TestPageIsCutBehindItsLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	cut := 0
	for range 400 {
		levels := r.IntN(1 + 1<<r.IntN(11))
		whole := pageOf(r, levels, r.IntN(3000))
		c, ok := cutBehind(s2.EncodeSnappy(nil, whole), true)
		if !ok { // a copy begins in the levels, and ends far behind
			continue
		}
		cut++
		if len(c.levels) != 4+levels {
			t.Fatalf("%d bytes of levels, want %d", len(c.levels), 4+levels)
		}
		checkCut(t, c, whole)
	}
	if cut < 380 {
		t.Errorf("%d of 400 pages are cut", cut)
	}
}

func TestBlockThatCannotBeCutIsNot(t *testing.T) {
	page := []byte{2, 0, 0, 0, 7, 7, 1, 2, 3, 4}
	block := func(size int, elements ...byte) []byte {
		return append(appendSnappyLiteral([]byte{byte(size)}, page), elements...)
	}
	for name, b := range map[string][]byte{
		"empty":                          {},
		"of a length only":               {20},
		"of too few bytes for levels":    appendSnappyLiteral([]byte{3}, page[:3]),
		"whose levels are too long":      appendSnappyLiteral([]byte{6}, []byte{9, 0, 0, 0, 1, 2}),
		"that copies from before itself": block(14, 1, 11),
		"that copies at no distance":     block(14, 1, 0),
		"that is shorter than it says":   block(11),
		"that is longer than it says":    block(9),
		"that ends in a literal":         {20, 60 << 2},
		"that ends in a copy":            block(14, 1),
	} {
		if _, ok := cutBehind(b, true); ok {
			t.Errorf("a block %s is cut", name)
		}
	}
	for distance := byte(1); distance <= 10; distance++ { // up to 4 from the values, and then from the levels
		b := block(14, 1, distance)
		c, ok := cutBehind(b, true)
		whole, err := s2.Decode(nil, b)
		if !ok || err != nil {
			t.Fatalf("a block that copies from %d bytes before: %t, %v", distance, ok, err)
		}
		checkCut(t, c, whole)
	}
}

// TestShortElementsArePassedAsEachIs holds elements that are passed over, some of them damaged, against a look at each.
func TestShortElementsArePassedAsEachIs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	passed := 0
	for i := range 2000 {
		_, b, _ := bytes.Cut(s2.EncodeSnappy(nil, pageOf(r, 0, r.IntN(400))), []byte{0, 0, 0, 0}) // in the midst of the first literal
		for range i % 4 * len(b) / 40 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		before := r.IntN(2000)
		taken, made := passShort(b, before)
		passed += taken
		at, n := 0, before
		for at < taken {
			e, ok := snappyElement(b[at:])
			if !ok || e.distance > n {
				t.Fatalf("%x with %d bytes before: the element at %d of %d copies from %d back", b, before, at, taken, e.distance)
			}
			at, n = at+e.taken, n+e.length
		}
		if at != taken || n-before != made {
			t.Fatalf("%x with %d bytes before: %d bytes make %d, want %d that make %d", b, before, taken, made, at, n-before)
		}
	}
	if passed < 100_000 {
		t.Errorf("%d bytes of elements are passed over", passed)
	}
}

func FuzzCutSnappy(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 20, 300} {
		f.Add(s2.EncodeSnappy(nil, pageOf(r, n, n)), true)
	}
	f.Add(s2.EncodeSnappy(nil, bytes.Repeat([]byte{0, 1}, 50_000)), false)
	f.Add([]byte{14, 9 << 2, 2, 0, 0, 0, 7, 7, 1, 2, 3, 4, 1, 9}, true)
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 4, 63 << 2, 255, 255, 255, 255}, true)
	f.Fuzz(func(t *testing.T, block []byte, levelled bool) {
		if len(block) > 1<<16 {
			return
		}
		if n, err := s2.DecodedLen(block); err == nil && n > 1<<24 {
			return
		}
		c, ok := cutBehind(block, levelled)
		if !ok {
			return
		}
		whole, err := s2.Decode(nil, block)
		if err != nil {
			t.Fatalf("a block that does not decode is cut: %v", err)
		}
		checkCut(t, c, whole)
	})
}
