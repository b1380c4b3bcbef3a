package batch

import (
	"strings"
	"testing"
)

func TestFilesThatGetSmallAreSaid(t *testing.T) {
	const target = 160_000_000
	for name, c := range map[string]struct {
		commits int
		files   int
		bytes   int64 // of a commit
		said    string
	}{
		"small ones":              {50, 1, 12_345, "50 commits made 50 of 12.3 kB on average, and it is to have files of 160 MB"},
		"small in many":           {70, 4, 4_000_000, "50 commits made 200 of 1000.0 kB"},
		"too few to tell":         {49, 1, 1000, ""},
		"large enough":            {80, 1, 10_000_000, ""},
		"positions without files": {80, 0, 0, ""},
	} {
		var r recentFiles
		for range c.commits {
			r.take(c.files, c.bytes)
		}
		got := r.tooSmall("lake/t", target)
		if got == "" != (c.said == "") || !strings.Contains(got, c.said) {
			t.Errorf("%s: %q", name, got)
		}
	}
	var r recentFiles
	for range 50 {
		r.take(1, 1000)
	}
	for range 50 {
		r.take(1, 20_000_000)
	}
	if said := r.tooSmall("lake/t", target); said != "" {
		t.Errorf("of commits long past: %s", said)
	}
}
