package commitlog

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNamesAreKeptAsTheyAre holds the packed names against a plain list, among them those that look like a UUID and are none.
func TestNamesAreKeptAsTheyAre(t *testing.T) {
	const id = "0123af67-89ab-4def-8123-456789abcdef"
	list := []string{
		"", "x", id, id + ".parquet", "part-00000-" + id + "-c000.snappy.parquet", "part-00001-" + id + "-c000.snappy.parquet",
		"part-00000-" + strings.ToUpper(id) + "-c000.snappy.parquet", id + id, id + "-" + id, id[:35], id[1:], "é" + id + "\x00",
		strings.Replace(id, "f", "g", 1), strings.Replace(id, "-", "_", 1), strings.Replace(id, "9", ":", 1), strings.Replace(id, "a", "`", 1),
		strings.Repeat("long", arenaChunk/3), strings.Repeat("long", arenaChunk/3) + id,
	}
	r := rand.New(rand.NewPCG(1, 4))
	for range 20_000 {
		uuid := []byte(randomUUID(r))
		if r.IntN(3) == 0 { // one byte is another
			uuid[r.IntN(len(uuid))] = byte(r.IntN(256))
		}
		list = append(list, fmt.Sprintf("%.*s%s%.*s", r.IntN(4), "part", uuid, r.IntN(4), ".snappy"))
	}
	n := newNames()
	places := make([]uint64, len(list))
	for i, name := range list {
		places[i] = n.append([]byte(name))
	}
	n.seal()
	for i, name := range list {
		if got := string(n.appendAt([]byte("in "), places[i])); got != "in "+name {
			t.Fatalf("%q becomes %q", name, got)
		}
	}
}

func randomUUID(r *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), r.IntN(1<<16), r.Int64N(1<<48))
}

// TestNamesOfTooManyShapesAreKeptAsTheyAre goes beyond the shapes that are numbered.
func TestNamesOfTooManyShapesAreKeptAsTheyAre(t *testing.T) {
	n := newNames()
	r := rand.New(rand.NewPCG(1, 4))
	var list []string
	var places []uint64
	for i := range maxShapes + 100 {
		list = append(list, fmt.Sprintf("%d-%s", i, randomUUID(r)))
		places = append(places, n.append([]byte(list[i])))
	}
	if len(n.shapes) != maxShapes+1 {
		t.Errorf("%d shapes", len(n.shapes))
	}
	for i, name := range list {
		if got := string(n.appendAt(nil, places[i])); got != name {
			t.Fatalf("%q becomes %q", name, got)
		}
	}
}

func FuzzPackUUID(f *testing.F) {
	f.Add([]byte("0123af67-89ab-4def-8123-456789abcdef"))
	f.Add([]byte("0123AF67-89ab-4def-8123-456789abcdef"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < uuidLength {
			return
		}
		got, ok := packUUID(text)
		digits := bytes.ReplaceAll(text[:uuidLength], []byte("-"), nil)
		want, err := hex.DecodeString(string(digits))
		is := err == nil && len(want) == uuidBytes && bytes.Equal(text[:uuidLength], bytes.ToLower(text[:uuidLength])) &&
			text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-'
		if ok != is {
			t.Fatalf("%q: %v", text, ok)
		}
		if !ok {
			return
		}
		if b := appendUUID(nil, got[:]); !bytes.Equal(b, text[:uuidLength]) {
			t.Fatalf("%q becomes %q", text, b)
		}
		if !bytes.Equal(got[:], want) {
			t.Fatalf("%q is %x", text, got)
		}
	})
}
