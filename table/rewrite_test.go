package table

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/encoding/rle"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/parquettest"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
)

// rewriteAll rewrites all files of an unpartitioned table together.
func rewriteAll(t testing.TB, tbl *Table) Committed {
	t.Helper()
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	r := rewriteOf(t, snap, filesOf(t, snap))
	done, err := r.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func rewriteOf(t testing.TB, snap *Snapshot, files []File) *Rewrite {
	t.Helper()
	r, err := snap.Rewrite(&files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if err := r.Add(t.Context(), &files[i]); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestRewrittenFilesAreThoseOfOneBatch compares small files that are rewritten together with what a single batch of the same
// rows makes: the rows, their order and the statistics.
func TestRewrittenFilesAreThoseOfOneBatch(t *testing.T) {
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			s := randomStruct(r, 1+r.IntN(6), 3)
			properties := map[string]string{
				encodingProperty: []string{"compatible", "compact"}[r.IntN(2)],
				codecProperty:    []string{"snappy", "zstd", "gzip", "uncompressed", "lz4_raw"}[r.IntN(5)],
			}
			create := &Create{Schema: s, Properties: properties}
			small, whole := newTestTable(t, Options{}), newTestTable(t, Options{})
			a, err := whole.Begin(t.Context(), create)
			if err != nil {
				t.Fatal(err)
			}
			for batch := range int64(2 + r.IntN(4)) {
				rec := randomRecord(r, s, 1+r.IntN(1200))
				appendAll(t, small, batch, create, rec)
				if err := a.Write(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := a.Commit(t.Context(), Batch{}); err != nil {
				t.Fatal(err)
			}
			before := scanRows(t, small, ScanOptions{})
			if done := rewriteAll(t, small); done.Files != 1 || done.Rows != int64(len(before)) {
				t.Errorf("%+v of %d rows", done, len(before))
			}
			if diff := cmp.Diff(before, scanRows(t, small, ScanOptions{})); diff != "" {
				t.Fatalf("schema %s\n%.2000s", s, diff)
			}
			if got, want := onlyAdd(t, small).Stats, onlyAdd(t, whole).Stats; got != want {
				t.Errorf("schema %s\nstatistics %s\nwant       %s", s, got, want)
			}
		})
	}
}

func onlyAdd(t testing.TB, tbl *Table) commitlog.Add {
	t.Helper()
	state, err := tbl.Log().Files(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	adds := seqtest.All(t, state.Files.All(t.Context()))
	if len(adds) != 1 {
		t.Fatalf("%d files", len(adds))
	}
	return adds[0]
}

// TestLargePagesAreCopied looks for the bytes of the source's pages in the rewritten file, and for the bounds of what was not
// looked at.
func TestLargePagesAreCopied(t *testing.T) {
	for _, encoding := range []string{"compatible", "compact"} {
		t.Run(encoding, func(t *testing.T) {
			store := newMemStore()
			tbl := New(store, Options{AppID: "test"})
			s := parseSchema(t, "id:string,n:long,d:decimal(30,5),word:string,maybe:string")
			properties := map[string]string{encodingProperty: encoding, codecProperty: "uncompressed"}
			whole := newTestTable(t, Options{})
			r := rand.New(rand.NewPCG(4, 4))
			a, err := whole.Begin(t.Context(), &Create{Schema: s, Properties: properties})
			if err != nil {
				t.Fatal(err)
			}
			for batch := range int64(3) {
				var rows []string
				for i := range 6000 {
					maybe := "null"
					if i%3 > 0 {
						maybe = `"` + randomHex(r) + `"`
					}
					rows = append(rows, fmt.Sprintf(`{"id":%q,"n":%d,"d":"%d.12345","word":"w%d","maybe":%s}`, randomHex(r), r.Int64()>>uint(r.IntN(60)), r.Int64()-r.Int64(), i%7, maybe))
				}
				rec := record(t, s, "["+strings.Join(rows, ",")+"]")
				appendAll(t, tbl, batch, &Create{Schema: s, Properties: properties}, rec)
				if err := a.Write(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := a.Commit(t.Context(), Batch{}); err != nil {
				t.Fatal(err)
			}
			before := scanRows(t, tbl, ScanOptions{})
			large := largePages(t, store, s, properties)
			if len(large) < 12 {
				t.Fatalf("only %d large pages to copy", len(large))
			}
			rewriteAll(t, tbl)
			if diff := cmp.Diff(before, scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Errorf("%.2000s", diff)
			}
			add := onlyAdd(t, tbl)
			for i, page := range large {
				if !bytes.Contains(store.objects[add.Path], page) {
					t.Errorf("page %d of %d bytes was not copied", i, len(page))
				}
			}
			if want := onlyAdd(t, whole).Stats; add.Stats != want {
				t.Errorf("statistics %s\nwant       %s", add.Stats, want)
			}
		})
	}
}

// largePages are those pages of all files that are worth copying.
func largePages(t *testing.T, store *memStore, s *schema.Type, properties map[string]string) [][]byte {
	t.Helper()
	layout, err := newLayout(s, properties, engineName, codec{})
	if err != nil {
		t.Fatal(err)
	}
	var (
		pages   [][]byte
		opener  sourceOpener
		decoder pageDecoder
	)
	for _, key := range store.dataKeys() {
		f, err := opener.open(layout, place{}, memObject{bytes.NewReader(store.objects[key])})
		if err != nil || !f.joins {
			t.Fatal(f, err)
		}
		for i, l := range layout.leaves {
			c, err := f.chunk(0, i, l, &decoder)
			if err == nil {
				err = c.each(func(p *sourcePage) error {
					if len(p.body) >= copiedBytes {
						pages = append(pages, bytes.Clone(p.whole))
					}
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return pages
}

// TestFilesOfOthersAreRewrittenRowForRow rewrites the files of every table that others wrote, and compares with a scan.
func TestFilesOfOthersAreRewrittenRowForRow(t *testing.T) {
	rewritten := 0
	eachForeign(t, "_delta_log", func(t *testing.T, folder, _ string) {
		store := storeOf(t, folder)
		tbl := New(store, Options{})
		snap, err := tbl.Snapshot(t.Context(), Newest)
		skipRefused(t, err)
		if snap.State().Files.Len() == 0 {
			t.Skip("nothing to rewrite: the table has no files")
		}
		byPartition := map[string][]File{}
		rows := int64(0)
		for _, f := range seqtest.All(t, snap.Files(t.Context())) {
			if rows += f.Rows; rows > 20_000 {
				t.Skip("it takes long, and the other tables have all that it has")
			}
			byPartition[snap.PartitionOf(&f)] = append(byPartition[snap.PartitionOf(&f)], f)
		}
		before, err := rowsOf(t, snap)
		skipRefused(t, err)
		for _, files := range byPartition {
			snap, err := tbl.Snapshot(t.Context(), Newest)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = snap.Rewrite(&files[0]); err == nil {
				_, err = rewriteOf(t, snap, newest(t, snap, files)).Commit(t.Context())
			}
			if err != nil && (strings.Contains(err.Error(), "cannot be stored") || strings.Contains(err.Error(), "cannot name a partition")) {
				t.Skip("the table has columns that are only read: ", err)
			}
			skipRefused(t, err)
		}
		if snap, err = tbl.Snapshot(t.Context(), Newest); err != nil {
			t.Fatal(err)
		}
		after, err := rowsOf(t, snap)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(before)
		slices.Sort(after)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%.3000s", diff)
		}
		rewritten++
	})
	t.Logf("%d tables rewritten", rewritten)
	if rewritten < 149 {
		t.Errorf("only %d tables could be rewritten", rewritten)
	}
}

// skipRefused skips a table that is refused or damaged, or whose files its author left out; TestForeignTables holds which these are. Any other error
// is a fault.
func skipRefused(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.As(err, new(*commitlog.UnsupportedError)), errors.As(err, new(*commitlog.CorruptError)),
		errors.Is(err, commitlog.ErrNoTable), errors.Is(err, storage.ErrNotExist):
		t.Skip("not a table to rewrite, as docs/conformance.md has it: ", err)
	default:
		t.Fatal(err)
	}
}

func filesOf(t testing.TB, snap *Snapshot) []File {
	t.Helper()
	files, err := snap.FilesWhere(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// newest finds files in a newer snapshot.
func newest(t *testing.T, snap *Snapshot, files []File) []File {
	var found []File
	for _, f := range seqtest.All(t, snap.Files(t.Context())) {
		if slices.ContainsFunc(files, func(g File) bool { return g.Path == f.Path }) {
			found = append(found, f)
		}
	}
	return found
}

func rowsOf(t *testing.T, snap *Snapshot) (rows []string, err error) {
	t.Helper()
	err = snap.Scan(t.Context(), ScanOptions{}, func(r arrow.Record) error {
		rows = append(rows, rowTexts(r)...)
		return nil
	})
	return rows, err
}

// storeOf holds a folder's files in memory.
func storeOf(t *testing.T, folder string) *memStore {
	t.Helper()
	store := newMemStore()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(folder, path)
		if err == nil {
			store.objects[filepath.ToSlash(key)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestFileWithOtherRowsThanTheLogSaysIsNotRewritten(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{})
	s := parseSchema(t, "id:long")
	appendAll(t, tbl, 0, &Create{Schema: s}, record(t, s, `[{"id":1},{"id":2}]`))
	key := store.dataKeys()[0]
	store.objects[key] = writtenFile(t, s, nil, record(t, s, `[{"id":1}]`))
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.Rewrite(&filesOf(t, snap)[0])
	if err != nil {
		t.Fatal(err)
	}
	err = r.Add(t.Context(), &filesOf(t, snap)[0])
	if err == nil || !errors.As(err, new(*commitlog.CorruptError)) || !strings.Contains(err.Error(), "has 2 rows, and 1 are in it") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Commit(t.Context()); err == nil {
		t.Error("it was committed")
	}
	if err := errors.Join(r.Abort(t.Context())); err != nil || len(store.dataKeys()) != 1 {
		t.Errorf("%v, files %v", err, store.dataKeys())
	}
}

// TestDamagedFilesAreNotRewritten changes bytes: what comes of it is an error, or rows, but no panic, and nothing in the table.
func TestDamagedFilesAreNotRewritten(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 19))
	s := parseSchema(t, "a:long,s:struct<x:timestamp,y:string>,l:array<int>,m:map<string,date>,d:decimal(20,2),b:boolean")
	good := parquettest.WithoutChecksums(t, writtenFile(t, s, nil, randomRecord(r, s, 20)))
	layout, err := newLayout(s, nil, engineName, codec{})
	if err != nil {
		t.Fatal(err)
	}
	var opener sourceOpener
	for range 1500 {
		bad := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		f, err := opener.open(layout, place{}, memObject{bytes.NewReader(bad)})
		if err != nil || !f.joins {
			continue
		}
		e := newEncoder(layout, filePageBytes, &workspace{})
		if err := e.begin(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		_ = e.join(t.Context(), f, nil)
	}
}

func TestHybridIsDecodedAsOthersDo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for width := range 33 {
		for range 50 {
			var values []uint32
			for range r.IntN(20) {
				values = appendRuns(values, r, width)
			}
			b := appendHybrid(nil, values, width)
			got, err := decodeHybrid[uint32](nil, b, width, len(values))
			if err != nil || !slices.Equal(got, values) {
				t.Fatalf("width %d: %v comes back as %v, %v", width, values, got, err)
			}
			if _, err := decodeHybrid[uint32](nil, b, width, len(values)+8); err == nil {
				t.Fatalf("width %d: more than %d values come back", width, len(values))
			}
			if width == 0 {
				continue
			}
			theirs, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, converted[int32](values))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = decodeHybrid[uint32](nil, theirs, width, len(values)); err != nil || !slices.Equal(got, values) {
				t.Fatalf("width %d: theirs of %v comes back as %v, %v", width, values, got, err)
			}
		}
	}
}

// appendRuns appends a run of equal numbers, and some others behind it.
func appendRuns(values []uint32, r *rand.Rand, width int) []uint32 {
	v := uint32(r.Uint64N(1 << width))
	for range 1 + r.IntN(1+r.IntN(40)) {
		values = append(values, v)
	}
	for range r.IntN(20) {
		values = append(values, uint32(r.Uint64N(1<<width)))
	}
	return values
}
