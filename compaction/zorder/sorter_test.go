package zorder

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/memory"
)

// TestRowsComeBackAsTheyWere packs rows of every type of a table.
func TestRowsComeBackAsTheyWere(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "i8", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
		{Name: "i16", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "i32", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "i64", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "f64", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 2}, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "y", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)), Nullable: true},
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "st", Type: arrow.StructOf(
			arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
			arrow.Field{Name: "in", Type: arrow.StructOf(arrow.Field{Name: "z", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
		), Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, s, strings.NewReader(`[
		{"b":true,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"f32":-1.5,"f64":5e-324,"d":"-99999999999999999999999.99","s":"é","y":"AAH/","day":"1969-12-31","ts":"1969-12-31T23:59:59.999999Z","l":[["a",null],[],null],"m":[{"key":"k","value":null},{"key":"","value":7}],"st":{"x":3,"in":{"z":"w"}}},
		{},
		{"b":false,"i8":127,"i16":0,"i32":0,"i64":0,"f32":0,"f64":0,"d":"0.01","s":"","y":"","day":"9999-12-31","ts":"2026-01-01T00:00:00Z","l":[],"m":[],"st":{"x":null,"in":{"z":null}}},
		{"st":{"x":1,"in":null},"l":[[]]}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{true, false} {
		from := record
		if !whole {
			from = record.NewSlice(1, 4)
		}
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, s)
		for i := range int(from.NumRows()) {
			r := rowReader(appendRow(nil, from.Columns(), i))
			if r.row(b.Fields()); len(r) > 0 {
				t.Errorf("%d bytes are left of row %d", len(r), i)
			}
		}
		if back := b.NewRecord(); !array.RecordEqual(from, back) {
			t.Errorf("%v\nwant %v", back, from)
		}
	}
}

// packedRow is a key and a text, as a test has them.
type packedRow struct {
	key  uint64
	text string
}

func pack(rows []packedRow) packed {
	var p packed
	for _, r := range rows {
		p.entries = append(p.entries, entry{key: r.key, at: uint32(len(p.bytes))})
		p.bytes = append(binary.LittleEndian.AppendUint32(p.bytes, uint32(len(r.text))), r.text...)
	}
	return p
}

// smallSorter spills what is more than so many bytes, and merges two runs at a time.
func smallSorter(t *testing.T, limit int64) *sorter {
	s := newSorter(memory.New(1<<30).Open("sort", 1<<30), t.TempDir(), 1)
	s.limit, s.fan = limit, 2
	return s
}

// TestRowsAreSortedWhateverFitsIntoMemory compares with a sort of all rows in memory.
func TestRowsAreSortedWhateverFitsIntoMemory(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := smallSorter(t, []int64{1, 5_000, 1 << 30}[seed%3])
		var all []packedRow
		for range r.IntN(30) {
			rows := make([]packedRow, r.IntN(200))
			for i := range rows {
				rows[i] = packedRow{r.Uint64N(1 << r.IntN(40)), strings.Repeat("x", r.IntN(100))}
				if r.IntN(500) == 0 {
					rows[i].text = strings.Repeat("long", blockBytes/2)
				}
			}
			all = append(all, rows...)
			if err := s.add(pack(rows)); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(all, func(a, b packedRow) int {
			if a.key != b.key {
				return int(min(max(int64(a.key)-int64(b.key), -1), 1))
			}
			return strings.Compare(a.text, b.text)
		})
		var want, got []string
		for _, row := range all {
			want = append(want, row.text)
		}
		if err := s.each(t.Context(), func(row []byte) error { got = append(got, string(row)); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || int64(len(got)) != s.rows {
			t.Fatalf("seed %d: %d rows of %d", seed, len(got), len(want))
		}
		at := 0 // rows of one key may come in any order
		for at < len(all) {
			end := at
			for end < len(all) && all[end].key == all[at].key {
				end++
			}
			slices.Sort(got[at:end])
			at = end
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %.500s", seed, diff)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		if held := s.account.Budget().Use()[0].Held; held != 0 {
			t.Errorf("seed %d: %d bytes are still counted", seed, held)
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
	s := smallSorter(t, 1)
	folder := t.TempDir()
	s.scratch = func() (scratchFile, error) {
		f, err := newScratch(folder)
		return &full{f, 100}, err
	}
	err := s.add(pack([]packedRow{{1, strings.Repeat("x", 200)}}))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "choose another folder with --scratch") {
		t.Errorf("got %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedScratchIsFound changes each byte of a scratch file, and cuts it off at each.
func TestDamagedScratchIsFound(t *testing.T) {
	s := smallSorter(t, 1)
	if err := s.add(pack([]packedRow{{1, "one"}, {2, "two"}})); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	run := s.spilled[0]
	f := run.file.(*os.File)
	whole := make([]byte, run.bytes)
	if _, err := f.ReadAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		next := run.rows()
		for {
			if _, _, ok, err := next(); err != nil || !ok {
				return err
			}
		}
	}
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
