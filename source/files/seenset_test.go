package files

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSeenSetAgreesWithAMap(t *testing.T) {
	for _, reserved := range []int{0, 100, 10_000} {
		rng := rand.New(rand.NewPCG(1, uint64(reserved)))
		var set seenSet
		set.reserve(reserved)
		oracle := map[pathHash]identity{}
		for range 12_000 {
			// A small space of hashes that crowd a few shards, so that paths collide in slots and come again.
			p := pathHash{hi: rng.Uint64N(64) << 52, lo: rng.Uint64N(500) << 54}
			if rng.IntN(3) == 0 {
				p = pathHash{hi: rng.Uint64(), lo: rng.Uint64()}
			}
			if p == (pathHash{}) {
				continue
			}
			got, ok := set.get(p)
			if want, wantOK := oracle[p]; ok != wantOK || ok && got != want {
				t.Fatalf("get = %v, %v; want %v, %v", got, ok, want, wantOK)
			}
			id := identity{size: rng.Int64(), stamp: rng.Int64()}
			set.put(entry{p, id})
			oracle[p] = id
		}
		if set.len() != len(oracle) {
			t.Fatalf("len = %d, want %d", set.len(), len(oracle))
		}
		for p, want := range oracle {
			if got, ok := set.get(p); !ok || got != want {
				t.Fatalf("get = %v, %v; want %v", got, ok, want)
			}
		}
	}
}

func TestSeenSetStaysCompactAtEverySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var set seenSet
	for n := 1; n <= 100_000; n++ {
		set.put(entry{path: pathHash{hi: rng.Uint64(), lo: rng.Uint64()}})
		if n < 20_000 || n%997 != 0 {
			continue
		}
		slots := 0
		for i := range set.shards {
			slots += len(set.shards[i].slots)
		}
		if perFile := float64(slots) * float64(unsafe.Sizeof(entry{})) / float64(n); perFile > 50 {
			t.Fatalf("%.1f bytes a file at %d files", perFile, n)
		}
	}
}
