package compaction

import (
	"cmp"
	"maps"
	"slices"
)

// cubes are the bytes of a partition's files by what they were put in order with, which Delta calls a Z-cube.
type cubes map[string]int64

// unordered names the files that are in no order.
const unordered = ""

// growth is how many times the smaller a cube may be that is written again together with it: each row is written as often as its cube
// grows by this, and a partition has few cubes.
const growth = 4

// choose finds the cubes that are to be one: what is in no order, and from the smallest cube up those that it, with the cubes before, is a
// growth's part of. Cubes of more than half of most bytes are done. Without anything out of order the smallest cube begins, and what is
// a cube by itself stays.
func (c cubes) choose(most int64) map[string]bool {
	names := slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		if a == unordered || b == unordered {
			return cmp.Compare(len(a), len(b)) // it comes first, whatever its size
		}
		return cmp.Or(cmp.Compare(c[a], c[b]), cmp.Compare(a, b))
	})
	chosen := map[string]bool{}
	var bytes int64
	for _, name := range names {
		done := name != unordered && c[name] > most/2
		if done || len(chosen) > 0 && c[name] > growth*bytes {
			break
		}
		chosen[name] = true
		bytes += c[name]
	}
	if len(chosen) == 1 && !chosen[unordered] {
		return nil
	}
	return chosen
}
