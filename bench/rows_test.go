package main

import (
	"slices"
	"strings"
	"testing"
)

// TestRowsAreKnownByTheirNames holds names to what a document of results can take apart again.
func TestRowsAreKnownByTheirNames(t *testing.T) {
	for _, records := range []int64{1000, 3_000_000} {
		b := &bench{settings: settings{records: records}}
		names := b.names()
		slices.Sort(names)
		for i, name := range names {
			if strings.ContainsAny(name, "(|\n") || strings.HasPrefix(name, "left out") || i > 0 && name == names[i-1] {
				t.Errorf("row %q", name)
			}
		}
		for _, r := range b.rows() {
			seen := map[string]bool{}
			for _, c := range r.contenders {
				if seen[c.name] || strings.Contains(c.name, "|") {
					t.Errorf("row %s: contender %q", r.name, c.name)
				}
				seen[c.name] = true
			}
		}
	}
}
