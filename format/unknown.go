package format

import (
	"maps"
	"slices"
)

const (
	// MaxUnknown bounds the paths by which unknown fields are counted.
	MaxUnknown = 1000
	// UnknownRest is the path that all further unknown fields are counted under.
	UnknownRest = "…"
)

// BoundUnknown folds the paths behind the first MaxUnknown, in the order of their names, into UnknownRest. It changes counts,
// which several decoders together may have made longer than each of them.
func BoundUnknown(counts map[string]int64) map[string]int64 {
	if len(counts) <= MaxUnknown {
		return counts
	}
	rest := counts[UnknownRest]
	delete(counts, UnknownRest)
	for _, path := range slices.Sorted(maps.Keys(counts))[MaxUnknown:] {
		rest += counts[path]
		delete(counts, path)
	}
	counts[UnknownRest] = rest
	return counts
}
