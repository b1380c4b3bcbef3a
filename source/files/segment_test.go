package files

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func segmentEntries(s segment) []entry {
	var all []entry
	for i := range s.len() {
		all = append(all, s.at(i))
	}
	return all
}

var exact = cmp.AllowUnexported(entry{}, pathHash{}, identity{}, segmentName{})

func TestSegmentBytes(t *testing.T) {
	name := segmentName{epoch: 1, from: 2, to: 5}
	entries := []entry{{pathHash{1, 2}, identity{3, -1}}, {pathHash{1, 3}, identity{1 << 40, 1777636800123456789}}}
	b := encodeSegment(name, entries)
	const want = "534c5345454e3031" + "0000000000000001" + "0000000000000002" + "0000000000000005" + "0000000000000002" +
		"0000000000000001" + "0000000000000002" + "0000000000000003" + "ffffffffffffffff" +
		"0000000000000001" + "0000000000000003" + "0000010000000000" + "18ab6f405b054d15"
	if got := hex.EncodeToString(b[:len(b)-segmentTrailer]); got != want {
		t.Errorf("bytes %s,\nwant  %s", got, want)
	}
	s, err := openSegment(name, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, segmentEntries(s), exact); diff != "" {
		t.Error(diff)
	}
}

func TestEveryDamageOfASegmentIsNoticed(t *testing.T) {
	name := segmentName{epoch: 0, from: 0, to: 3}
	b := encodeSegment(name, []entry{{pathHash{1, 2}, identity{3, 4}}, {pathHash{5, 6}, identity{7, 8}}})
	for n := range b {
		if _, err := openSegment(name, b[:n]); err == nil {
			t.Errorf("cut after %d bytes it is accepted", n)
		}
		flipped := bytes.Clone(b)
		flipped[n] ^= 0x10
		if _, err := openSegment(name, flipped); err == nil {
			t.Errorf("changed at byte %d it is accepted", n)
		}
	}
	if _, err := openSegment(name, append(bytes.Clone(b), 0)); err == nil {
		t.Error("accepted with a byte behind it")
	}
	if _, err := openSegment(segmentName{to: 4}, b); err == nil {
		t.Error("accepted under another name")
	}
	newer := bytes.Replace(b, []byte(segmentMagic), []byte("SLSEEN02"), 1)
	if _, err := openSegment(name, newer); !errors.Is(err, errNewerSegment) {
		t.Errorf("a later version gives %v", err)
	}
}

func TestSegmentNames(t *testing.T) {
	for key, want := range map[string]segmentName{
		"000000-00000000000000000000-00000000000000000100.seen":   {to: 100},
		"000012-00000000000000000100-00000000000000000101.3.seen": {epoch: 12, from: 100, to: 101, attempt: 3},
	} {
		got, ok := parseSegmentName(key)
		if !ok || got != want || got.key() != key {
			t.Errorf("%s is %+v, %v", key, got, ok)
		}
	}
	for _, key := range []string{
		"", "x.seen", "0-0-1.seen", "000000-00000000000000000002-00000000000000000001.seen",
		"000000-00000000000000000000-00000000000000000100.seen.tmp", "000000-00000000000000000000-00000000000000000100.0.seen",
		"000000-00000000000000000000-99999999999999999999.seen",
	} {
		if n, ok := parseSegmentName(key); ok {
			t.Errorf("%q is taken for segment %+v", key, n)
		}
	}
}

func TestMergedSegmentsSayWhatTheirBatchesSay(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		oracle := map[pathHash]identity{}
		var parts [][]entry
		for range 1 + rng.IntN(5) {
			var part []entry
			for range rng.IntN(20) {
				e := entry{pathHash{rng.Uint64N(4), rng.Uint64N(8)}, identity{1, rng.Int64N(1000)}}
				part = append(part, e)
				oracle[e.path] = e.identity
			}
			parts = append(parts, part)
		}
		entries := sortEntries(slices.Clone(parts[len(parts)-1]))
		for _, part := range slices.Backward(parts[:len(parts)-1]) {
			older, err := openSegment(segmentName{}, encodeSegment(segmentName{}, sortEntries(slices.Clone(part))))
			if err != nil {
				t.Fatal(err)
			}
			entries = mergeEntries(older, entries)
		}
		at := map[pathHash]identity{}
		for i, e := range entries {
			if i > 0 && !entries[i-1].path.less(e.path) {
				t.Fatalf("seed %d: out of order at %d", seed, i)
			}
			at[e.path] = e.identity
		}
		if diff := cmp.Diff(oracle, at, exact); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestCoverTakesTheLongestWayAndStepsOverWhatIsUnusable(t *testing.T) {
	span := func(from, to int64) listed { return listed{segmentName: segmentName{from: from, to: to}} }
	tests := []struct {
		name     string
		all      []listed
		unusable [][2]int64
		want     [][2]int64
		end      int64
	}{
		{"nothing", nil, nil, nil, 0},
		{"a chain", []listed{span(0, 3), span(3, 4), span(4, 9)}, nil, [][2]int64{{0, 3}, {3, 4}, {4, 9}}, 9},
		{"merged and its inputs", []listed{span(0, 3), span(0, 4), span(3, 4)}, nil, [][2]int64{{0, 4}}, 4},
		{"merged, but torn", []listed{span(0, 3), span(0, 4), span(3, 4)}, [][2]int64{{0, 4}}, [][2]int64{{0, 3}, {3, 4}}, 4},
		{"overlapping", []listed{span(0, 4), span(0, 2), span(3, 9)}, nil, [][2]int64{{0, 4}, {3, 9}}, 9},
		{"a hole", []listed{span(0, 2), span(3, 9)}, nil, [][2]int64{{0, 2}}, 2},
		{"no beginning", []listed{span(3, 9)}, nil, nil, 0},
		{"adopted without a batch", []listed{span(0, 0), span(0, 2)}, nil, [][2]int64{{0, 2}}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			chosen, end, err := cover(test.all, 0, func(s listed) (bool, error) {
				return !slices.Contains(test.unusable, [2]int64{s.from, s.to}), nil
			})
			if err != nil || end != test.end {
				t.Fatalf("end %d, %v; want %d", end, err, test.end)
			}
			var got [][2]int64
			for _, s := range chosen {
				got = append(got, [2]int64{s.from, s.to})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSegmentsAreFewAndFilesSeldomRewritten(t *testing.T) {
	for name, size := range map[string]func(i int, rng *rand.Rand) int{
		"one file a batch":      func(int, *rand.Rand) int { return 1 },
		"no files":              func(int, *rand.Rand) int { return 0 },
		"small and large turns": func(i int, _ *rand.Rand) int { return []int{1, 1000}[i%2] },
		"random":                func(_ int, rng *rand.Rand) int { return rng.IntN(1000) },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			var chosen []listed
			added, written := 0, 0
			for i := range 4000 {
				count := size(i, rng)
				added += count + 1
				inputs := mergeable(chosen, count)
				chosen = chosen[:len(chosen)-len(inputs)]
				for _, in := range inputs {
					count += in.count
				}
				chosen = append(chosen, listed{count: count})
				written += count + 1
				if len(chosen) > 25 {
					t.Fatalf("%d segments after %d batches", len(chosen), i)
				}
			}
			if written > 25*added {
				t.Errorf("%d entries written for %d", written, added)
			}
		})
	}
}

func FuzzSegment(f *testing.F) {
	name := segmentName{from: 1, to: 4}
	f.Add(encodeSegment(name, nil))
	f.Add(encodeSegment(name, []entry{{pathHash{1, 2}, identity{3, 4}}}))
	f.Add([]byte(segmentMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := openSegment(name, b)
		if err != nil {
			return
		}
		if again := encodeSegment(name, segmentEntries(s)); !bytes.Equal(again, b) {
			t.Fatalf("%x is read as %s", b, fmt.Sprint(segmentEntries(s)))
		}
	})
}
