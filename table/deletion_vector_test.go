package table

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
)

func TestDeletionVectorsInTheirNotations(t *testing.T) {
	want, err := hex.DecodeString("d1d339640100000000000000000000003a3000000100000000000500100000000300040007000b0012001d00")
	if err != nil {
		t.Fatal(err)
	}
	got, err := commitlog.DecodeZ85("^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L")
	if err != nil || string(got) != string(want) {
		t.Errorf("inline: %x, %v", got, err)
	}
	v, err := parseVector(got, 6, 30)
	if err != nil || !slices.Equal(v, deletionVector{1<<3 | 1<<4 | 1<<7 | 1<<11 | 1<<18 | 1<<29}) {
		t.Errorf("%b, %v", v, err)
	}
}

// encodeVector writes a portable bitmap whose containers are of a kind each: 0 arrays or words by their size, 1 runs.
func encodeVector(rows []int64, withRuns bool) []byte {
	le := binary.LittleEndian
	containers := map[int64][]uint16{}
	for _, row := range rows {
		containers[row>>16] = append(containers[row>>16], uint16(row))
	}
	var keys []int64
	for key := range containers {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b := le.AppendUint32(nil, 1681511377)
	b = le.AppendUint32(le.AppendUint64(b, 1), 0)
	if withRuns {
		b = le.AppendUint32(b, uint32(12347|(len(keys)-1)<<16))
		for range (len(keys) + 7) / 8 {
			b = append(b, 0xff)
		}
	} else {
		b = le.AppendUint32(le.AppendUint32(b, 12346), uint32(len(keys)))
	}
	for _, key := range keys {
		b = le.AppendUint16(le.AppendUint16(b, uint16(key)), uint16(len(containers[key])-1))
	}
	if !withRuns || len(keys) >= 4 {
		b = append(b, make([]byte, 4*len(keys))...)
	}
	for _, key := range keys {
		low := containers[key]
		switch {
		case withRuns:
			b = le.AppendUint16(b, uint16(len(low)))
			for _, row := range low {
				b = le.AppendUint16(le.AppendUint16(b, row), 0)
			}
		case len(low) <= 4096:
			for _, row := range low {
				b = le.AppendUint16(b, row)
			}
		default:
			var words [1024]uint64
			for _, row := range low {
				words[row/64] |= 1 << (row % 64)
			}
			for _, word := range words {
				b = le.AppendUint64(b, word)
			}
		}
	}
	return b
}

func TestDeletionVectorsOfEachForm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, share := range []int{2, 9, 1000, 70_000} {
		const n = 300_000
		var rows []int64
		for row := range int64(n) {
			if r.IntN(share) == 0 {
				rows = append(rows, row)
			}
		}
		rows = append(rows, n)
		for _, runs := range []bool{false, true} {
			b := encodeVector(rows, runs)
			v, err := parseVector(b, int64(len(rows)), n+1)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for row := int64(0); row <= n; {
				length := v.run(row, n+1-row)
				if count := v.count(row, row+length); v.has(row) && count != length || !v.has(row) && count > 0 {
					t.Fatalf("%d of %d rows from %d on have been deleted", count, length, row)
				}
				for i := row; i < row+length && v.has(row); i++ {
					got = append(got, i)
				}
				row += length
			}
			if !slices.Equal(rows, got) {
				t.Errorf("%d rows, %d came back", len(rows), len(got))
			}
			for name, bad := range map[string]func() (deletionVector, error){
				"cut short":     func() (deletionVector, error) { return parseVector(b[:len(b)-1], int64(len(rows)), n+1) },
				"longer":        func() (deletionVector, error) { return parseVector(append(slices.Clone(b), 0), int64(len(rows)), n+1) },
				"another count": func() (deletionVector, error) { return parseVector(b, int64(len(rows))-1, n+1) },
				"too few rows":  func() (deletionVector, error) { return parseVector(b, int64(len(rows)), n) },
			} {
				if _, err := bad(); err == nil {
					t.Errorf("%s is let in", name)
				}
			}
		}
	}
}

// deleteRows commits a vector that deletes rows of the table's first file, and returns the file that it is stored in.
func deleteRows(t *testing.T, tbl *Table, store *memStore, rows []int64) []byte {
	t.Helper()
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	add := seqtest.All(t, snap.State().Files.All(t.Context()))[0]
	body := encodeVector(rows, false)
	file := append([]byte{1}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
	file = binary.BigEndian.AppendUint32(append(file, body...), crc32.ChecksumIEEE(body))
	store.objects["ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"] = file
	v := &commitlog.DeletionVector{StorageType: "u", PathOrInlineDv: "ab^-aqEH.-t@S}K{vb[*k^", Offset: new(int32), SizeInBytes: int32(len(body)), Cardinality: int64(len(rows))}
	*v.Offset = 1
	add.DeletionVector, add.DataChange = v, true
	_, err = tbl.Log().Commit(t.Context(), commitlog.Transaction{
		ReadVersion: snap.Version(), Actions: commitlog.Commit{
			Removes: []commitlog.Remove{{Path: add.Path, DeletionTimestamp: 1, DataChange: true}}, Adds: []commitlog.Add{add},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFilesWithoutARowLeftAreRewritten has no file come of one of which all rows have been deleted, and of others that of their rows.
func TestFilesWithoutARowLeftAreRewritten(t *testing.T) {
	for _, others := range []int64{0, 1} {
		store := newMemStore()
		tbl := New(store, Options{AppID: "test"})
		s := parseSchema(t, "a:long")
		for batch := range 1 + others {
			appendAll(t, tbl, batch, &Create{Schema: s}, record(t, s, `[{"a":1},{"a":2}]`))
		}
		deleteRows(t, tbl, store, []int64{0, 1})
		if done := rewriteAll(t, tbl); int64(done.Files) != others || done.Rows != 2*others {
			t.Errorf("%d other files: %+v", others, done)
		}
	}
}

// TestDeletedRowsAreNotScanned reads a file of nested rows with vectors that are stored inline and in a file.
func TestDeletedRowsAreNotScanned(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	s := parseSchema(t, "p:string,a:long,l:array<struct<x:string>>")
	rec := randomRecord(r, s, 5000)
	store := newMemStore()
	tbl := New(store, Options{})
	appendAll(t, tbl, 0, &Create{Schema: s}, rec)
	var rows []int64
	var want []string
	for i, text := range rowTexts(rec) {
		if i%7 == 0 || i > 1000 && i < 3500 {
			rows = append(rows, int64(i))
		} else {
			want = append(want, text)
		}
	}
	file := deleteRows(t, tbl, store, rows)
	if diff := cmp.Diff(want, scanRows(t, tbl, ScanOptions{})); diff != "" {
		t.Error(diff)
	}
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range snap.Files(t.Context()) {
		if err != nil || f.Rows != int64(len(want)) {
			t.Errorf("%d rows, %v", f.Rows, err)
		}
		r, err := snap.Rewrite(&f)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Add(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, scanRows(t, tbl, ScanOptions{})); diff != "" {
		t.Errorf("rewritten: %s", diff)
	}
	file[len(file)-1]++
	err = snap.Scan(t.Context(), ScanOptions{}, func(arrow.Record) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("got %v", err)
	}
}

func FuzzDeletionVector(f *testing.F) {
	f.Add(encodeVector([]int64{1, 2, 70_000}, false), int64(3))
	f.Add(encodeVector([]int64{1, 2, 70_000}, true), int64(3))
	f.Fuzz(func(t *testing.T, b []byte, cardinality int64) {
		v, err := parseVector(b, cardinality, 100_000)
		if err == nil && len(v) != (100_000+63)/64 {
			t.Fatal(len(v))
		}
	})
}
