package zorder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/memory"
)

// sortedRow is a key and a row, as a test has them.
type sortedRow struct {
	key  uint64
	text string
}

// smallSorter has runs of so many bytes, and so many buckets.
func smallSorter(t testing.TB, s *arrow.Schema, limit int64, buckets int) *sorter {
	folder := t.TempDir()
	return newSorter(newRows(s), memory.New(1<<30).Open("sort", 1<<30), func() (scratchFile, error) { return newScratch(folder) }, limit, evenly(0, 1<<20, buckets))
}

// TestRowsAreSortedWhateverFitsIntoMemory compares with a stable sort of all rows in memory.
func TestRowsAreSortedWhateverFitsIntoMemory(t *testing.T) {
	s := everyType(t)
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 3))
		limit := []int64{3_000, 50_000, 1 << 30}[seed%3]
		sorter := smallSorter(t, s, limit, []int{1, 2, 7, 256}[seed%4])
		sorter.shape.giveRoom(r.Int64N(1000))
		var all []sortedRow
		keyBits := r.IntN(64)
		for range r.IntN(12) {
			keys, rows := make([]uint64, 1+r.IntN(80)), []string{}
			for i := range keys {
				keys[i] = r.Uint64N(1 << r.IntN(keyBits+1))
				rows = append(rows, everyRow[r.IntN(len(everyRow))])
			}
			record := recordOf(t, s, rows, r.IntN(2) == 0)
			for i, text := range textsOf(record) {
				all = append(all, sortedRow{keys[i], text})
			}
			if err := sorter.add(keys, record); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(all, func(a, b sortedRow) int { return cmp.Compare(a.key, b.key) })
		var got []sortedRow
		err := sorter.all(t.Context(), func() error { return nil }, func(rows *column) error {
			for i, text := range textsOf(rows.record()) {
				got = append(got, sortedRow{rows.keys()[i], text})
			}
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !slices.Equal(all, got) || int64(len(got)) != sorter.rows {
			t.Fatalf("seed %d: got\n%v\nwant\n%v", seed, got, all)
		}
		if use := sorter.account.Budget().Use()[0]; use.Held != 0 {
			t.Errorf("seed %d: %d bytes are still counted", seed, use.Held)
		}
	}
}

// TestMemoryOfTheSorterIsBounded sorts rows of 60 times the memory, in some orders of keys.
func TestMemoryOfTheSorterIsBounded(t *testing.T) {
	s := schemaOf(t, "struct<s:string>")
	record := recordOf(t, s, slices.Repeat([]string{`{"s":"` + strings.Repeat("x", 400) + `"}`}, 100), false)
	const limit, records = 100_000, 150
	for name, key := range map[string]func(row int) uint64{
		"spread": func(row int) uint64 { return uint64(row) * 7919 % (1 << 20) },
		"one":    func(int) uint64 { return 5 },
		"most in one": func(row int) uint64 {
			return 1<<19 + uint64(row%5000) - uint64(row%2)*uint64(row)
		},
		"far apart": func(row int) uint64 { return uint64(row%3) * (math.MaxUint64 / 2) },
	} {
		sorter := smallSorter(t, s, limit, 16)
		rows, last := 0, uint64(0)
		err := sorter.all(t.Context(), func() error {
			for n := range records {
				keys := make([]uint64, record.NumRows())
				for i := range keys {
					keys[i] = key(n*len(keys) + i)
				}
				if err := sorter.add(keys, record); err != nil {
					return err
				}
			}
			return nil
		}, func(out *column) error {
			for _, key := range out.keys() {
				if key < last {
					return fmt.Errorf("key %d comes after %d", key, last)
				}
				last = key
			}
			rows += out.n
			return nil
		})
		if err != nil || rows != records*int(record.NumRows()) {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
		if use := sorter.account.Budget().Use()[0]; use.Held != 0 || use.Peak > 2*limit {
			t.Errorf("%s: held %d bytes, at last %d", name, use.Peak, use.Held)
		}
	}
}

func TestEntriesAreSortedAsByADumbSort(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		entries := make([]entry, r.IntN(300))
		for i := range entries {
			entries[i] = entry{r.Uint64() >> r.IntN(64) << r.IntN(64), pick{0, uint32(i)}}
		}
		want := slices.Clone(entries)
		slices.SortStableFunc(want, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		if got := sortEntries(entries, make([]entry, len(entries))); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

func TestKeysAreDividedEvenly(t *testing.T) {
	for _, c := range []struct {
		least, most uint64
		ranges      int
		want        []uint64
	}{
		{0, 1, 2, []uint64{1}},
		{0, 1, 256, []uint64{1}},
		{10, 19, 5, []uint64{12, 14, 16, 18}},
		{10, 20, 5, []uint64{13, 16, 19}},
		{0, math.MaxUint64, 2, []uint64{1 << 63}},
		{0, math.MaxUint64, 3, []uint64{math.MaxUint64/3 + 1, math.MaxUint64/3*2 + 2}},
		{math.MaxUint64 - 2, math.MaxUint64, 2, []uint64{math.MaxUint64}},
	} {
		if got := evenly(c.least, c.most, c.ranges); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %d", c, got)
		}
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		numbers := make([]uint64, r.IntN(20))
		for i := range numbers {
			numbers[i] = r.Uint64N(12)
		}
		slices.Sort(numbers)
		for n := range uint64(13) {
			want := 0
			for _, number := range numbers {
				if number <= n {
					want++
				}
			}
			if got := countUpTo(numbers, n); got != want {
				t.Fatalf("%d numbers of %d are not above %d, want %d", got, numbers, n, want)
			}
		}
	}
}

func TestScratchFilesHaveNoName(t *testing.T) {
	folder := t.TempDir()
	f, err := newScratch(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := newScratch(folder + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// full is a scratch file on a disk that has room for so many bytes.
type full struct {
	scratchFile
	room int64
}

func (f *full) WriteAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.room {
		return 0, &os.PathError{Op: "write", Path: "scratch", Err: syscall.ENOSPC}
	}
	return f.scratchFile.WriteAt(b, at)
}

func TestFullScratchIsSaid(t *testing.T) {
	s := schemaOf(t, "struct<s:string>")
	sorter := smallSorter(t, s, 1, 1)
	create := sorter.create
	sorter.create = func() (scratchFile, error) {
		f, err := create()
		return &full{f, 100}, err
	}
	err := sorter.all(t.Context(), func() error {
		return sorter.add([]uint64{1}, recordOf(t, s, []string{`{"s":"` + strings.Repeat("x", 200) + `"}`}, false))
	}, nil)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "choose another folder with --scratch") {
		t.Errorf("got %v", err)
	}
	if held := sorter.account.Budget().Use()[0].Held; held != 0 {
		t.Errorf("%d bytes are still counted", held)
	}
}

// TestDamagedScratchIsFound changes each byte of a scratch file, and cuts it off at each.
func TestDamagedScratchIsFound(t *testing.T) {
	s := schemaOf(t, "struct<s:string>")
	sorter := smallSorter(t, s, 1, 1)
	if err := sorter.add([]uint64{2, 1}, recordOf(t, s, []string{`{"s":"one"}`, `{"s":"two"}`}, false)); err != nil {
		t.Fatal(err)
	}
	defer sorter.close()
	f := sorter.scratch.file.(*os.File)
	whole := make([]byte, sorter.scratch.bytes)
	if _, err := f.ReadAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	read := func() error { return sorter.each(t.Context(), func(*column) error { return nil }) }
	if err := read(); err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		if _, err := f.WriteAt([]byte{whole[at] ^ 1}, int64(at)); err != nil {
			t.Fatal(err)
		}
		if err := read(); err == nil || !strings.Contains(err.Error(), "the group stays as it is") {
			t.Errorf("byte %d: %v", at, err)
		}
		if _, err := f.WriteAt(whole[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	for at := range whole {
		if err := f.Truncate(int64(at)); err != nil {
			t.Fatal(err)
		}
		if err := read(); err == nil {
			t.Errorf("cut off at %d", at)
		}
		if _, err := f.WriteAt(whole, 0); err != nil {
			t.Fatal(err)
		}
	}
}
