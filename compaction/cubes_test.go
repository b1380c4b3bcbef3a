package compaction

import (
	"maps"
	"slices"
	"testing"
)

func TestCubesThatAreToBeOne(t *testing.T) {
	for name, c := range map[string]struct {
		cubes cubes
		want  []string
	}{
		"nothing":                          {cubes{}, nil},
		"all out of order":                 {cubes{unordered: 7}, []string{unordered}},
		"one cube":                         {cubes{"a": 10}, nil},
		"a done one and what came":         {cubes{"a": 501, unordered: 500}, []string{unordered}},
		"a little beside much":             {cubes{"a": 401, unordered: 100}, []string{unordered}},
		"enough beside much":               {cubes{"a": 400, unordered: 100}, []string{unordered, "a"}},
		"one leads to the next":            {cubes{"a": 400, "b": 90, unordered: 30}, []string{unordered, "b", "a"}},
		"much out of order, small cubes":   {cubes{"a": 3, "b": 2, unordered: 1000}, []string{unordered, "b", "a"}},
		"cubes of like size, all in order": {cubes{"a": 100, "b": 99, "c": 480}, []string{"b", "a", "c"}},
		"cubes that differ, all in order":  {cubes{"a": 10, "b": 50, "c": 300}, nil},
	} {
		got := slices.Sorted(maps.Keys(c.cubes.choose(1000)))
		if slices.Sort(c.want); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestEachRowIsWrittenAFewTimes appends for long, and has what is chosen be one cube each time.
func TestEachRowIsWrittenAFewTimes(t *testing.T) {
	const most, rounds = 10_000, 2000
	c, names, written, peak := cubes{}, 0, int64(0), 0
	for range rounds {
		c[unordered] += 10
		var bytes int64
		for name := range c.choose(most) {
			bytes += c[name]
			delete(c, name)
		}
		names++
		c[string(rune(names))] = bytes
		written += bytes
		peak = max(peak, len(c)-rounds*10/most*2)
	}
	if times := float64(written) / (rounds * 10); times > 10 || peak > 6 {
		t.Errorf("each byte was written %.1f times, and %d cubes were not done", times, peak)
	}
	for name := range c {
		if _, ok := c[name]; ok && c.choose(most) != nil {
			t.Fatal("something is left to do")
		}
	}
}
