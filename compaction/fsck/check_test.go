package fsck_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// makeTable appends batches of three rows, a file each.
func makeTable(t testing.TB, store storage.Store, from, to int, properties map[string]string) {
	t.Helper()
	create := &table.Create{Schema: tabletest.Columns(t, "struct<id:long,note:string,at:struct<x:double>>"), Properties: properties}
	tbl := table.New(store, table.Options{AppID: "test"})
	for batch := from; batch < to; batch++ {
		rows := fmt.Sprintf(`[{"id":%d,"note":"a","at":{"x":1.5}},{"id":null,"note":"b","at":null},{"id":7,"note":"c","at":{"x":-2}}]`, batch)
		tabletest.Commit(t, tabletest.Begin(t, tbl, create, rows), batch)
	}
}

func check(t testing.TB, folder string) *fsck.Report {
	t.Helper()
	r, err := fsck.Check(t.Context(), tabletest.Local(t, folder), fsck.Options{Deep: true, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func dataFiles(t testing.TB, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "part-*.parquet"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names
}

func rewrite(t testing.TB, name string, change func([]byte) []byte) {
	t.Helper()
	body, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, change(body), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTableThatIsWholeHasNoFaults(t *testing.T) {
	folder := t.TempDir()
	makeTable(t, tabletest.Local(t, folder), 0, 3, nil)
	r := check(t, folder)
	if r.Version != 2 || r.Files != 3 || r.Bytes == 0 || len(r.Faults) > 0 || r.Err() != nil || r.Orphans.Files+r.Young.Files > 0 {
		t.Errorf("%+v", r)
	}
	if _, err := fsck.Check(t.Context(), tabletest.Local(t, t.TempDir()), fsck.Options{}); !errors.Is(err, commitlog.ErrNoTable) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestEachDamageIsFound(t *testing.T) {
	origin := t.TempDir()
	makeTable(t, tabletest.Local(t, origin), 0, 3, nil)
	logFile := func(folder, name string) string { return filepath.Join(folder, "_delta_log", name) }
	replace := func(old, with string) func(testing.TB, string) {
		return func(t testing.TB, folder string) {
			rewrite(t, logFile(folder, "00000000000000000001.json"), func(b []byte) []byte {
				if !strings.Contains(string(b), old) {
					t.Fatalf("%s is not in %s", old, b)
				}
				return []byte(strings.Replace(string(b), old, with, 1))
			})
		}
	}
	write := func(name, text string) func(testing.TB, string) {
		return func(t testing.TB, folder string) {
			if err := os.WriteFile(logFile(folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		damage func(t testing.TB, folder string)
		want   string // of the only fault
	}{
		"a file is missing": {func(t testing.TB, folder string) { _ = os.Remove(dataFiles(t, folder)[0]) }, "it is missing"},
		"a file is cut": {func(t testing.TB, folder string) {
			rewrite(t, dataFiles(t, folder)[0], func(b []byte) []byte { return b[:len(b)-9] })
		}, "the log says"},
		"a footer is damaged": {func(t testing.TB, folder string) {
			rewrite(t, dataFiles(t, folder)[0], func(b []byte) []byte { clear(b[len(b)-100 : len(b)-8]); return b })
		}, "cannot be read"},
		"a page is damaged": {func(t testing.TB, folder string) {
			rewrite(t, dataFiles(t, folder)[0], func(b []byte) []byte { clear(b[4:24]); return b })
		}, "cannot be read"},
		"a text is another": {func(t testing.TB, folder string) {
			rewrite(t, dataFiles(t, folder)[0], func(b []byte) []byte {
				const before, after = "\x01\x00\x00\x00b", "\x01\x00\x00\x00a" // both within the bounds
				if !bytes.Contains(b, []byte(before)) {
					t.Fatal("the text is not in the file")
				}
				return bytes.Replace(b, []byte(before), []byte(after), 1)
			})
		}, "cannot be read"},
		"numRecords":           {replace(`\"numRecords\":3`, `\"numRecords\":4`), "it has 3 rows, the log says 4"},
		"nullCount":            {replace(`\"nullCount\":{\"id\":1`, `\"nullCount\":{\"id\":0`), "column id has 1 nulls, its statistics say 0"},
		"the least value":      {replace(`\"minValues\":{\"id\":1`, `\"minValues\":{\"id\":2`), "column id has 1, below the least value by its statistics, 2"},
		"the greatest value":   {replace(`\"x\":1.5`, `\"x\":1.25`), "column at.x has 1.5, above the greatest value by its statistics, 1.25"},
		"a hole":               {func(t testing.TB, folder string) { _ = os.Remove(logFile(folder, "00000000000000000001.json")) }, "it is missing, and so are all up to version 2"},
		"no first commit":      {func(t testing.TB, folder string) { _ = os.Remove(logFile(folder, "00000000000000000000.json")) }, "it is missing, and so are all up to version 1"},
		"a damaged commit":     {write("00000000000000000001.json", "{\"add\":"), "00000000000000000001.json"},
		"a hint astray":        {write("_last_checkpoint", `{"version":1,"size":3}`), "a log checkpoint of version 1, which is not there"},
		"a hint of nothing":    {write("_last_checkpoint", `{"size":3}`), "it names no version"},
		"a damaged hint":       {write("_last_checkpoint", `{"version":1`), "it is not to be read"},
		"a damaged checkpoint": {write("00000000000000000001.checkpoint.parquet", "PAR1 and nothing else PAR1"), "00000000000000000001.checkpoint.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, folder)
			r := check(t, folder)
			text := ""
			for _, f := range r.Faults {
				text += f.Path + ": " + f.Problem + "\n"
			}
			if len(r.Faults) == 0 || !strings.Contains(text, c.want) || r.Err() == nil || strings.Count(text, "\n") > 2 {
				t.Errorf("faults:\n%s", text)
			}
		})
	}
}

// TestPathThatCannotBeDecodedIsAFaultAmongOthers has the log name a file so in each way: the other files are checked, and no orphan is
// told, since it may be what was meant.
func TestPathThatCannotBeDecodedIsAFaultAmongOthers(t *testing.T) {
	const add = `"partitionValues":{},"size":1,"modificationTime":0,"dataChange":true`
	for name, c := range map[string]struct {
		action, path, want string
	}{
		"add":         {`{"add":{"path":"%zz",` + add + `}}`, "%zz", `version 3: decode path "%zz": "%zz" is no escape`},
		"remove":      {`{"remove":{"path":"a%2","dataChange":true}}`, "a%2", `version 3: decode path "a%2": an escape is cut short`},
		"change data": {`{"cdc":{"path":"_change_data/%zz","partitionValues":{},"size":1,"dataChange":false}}` + "\n" + `{"commitInfo":{"timestamp":9000000000000}}`, "_change_data/%zz", `version 3: decode path "_change_data/%zz"`},
		"vector": {
			`{"add":{"path":"x",` + add + `,"deletionVector":{"storageType":"p","pathOrInlineDv":"/v%","offset":1,"sizeInBytes":1,"cardinality":1}}}`,
			"x", `version 3: decode path "v%": an escape is cut short`,
		},
		"id of a vector": {
			`{"add":{"path":"x",` + add + `,"deletionVector":{"storageType":"u","pathOrInlineDv":"short","offset":1,"sizeInBytes":1,"cardinality":1}}}`,
			"x", "has fewer than 20 characters",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			makeTable(t, tabletest.Local(t, folder), 0, 3, map[string]string{"delta.enableDeletionVectors": "true"})
			if err := os.WriteFile(filepath.Join(folder, "_delta_log", "00000000000000000003.json"), []byte(c.action), 0o666); err != nil {
				t.Fatal(err)
			}
			missing := dataFiles(t, folder)[0]
			_ = os.Remove(missing)
			if err := os.WriteFile(filepath.Join(folder, "stray.parquet"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
			r := check(t, folder)
			told := func(path, problem string) bool {
				return slices.ContainsFunc(r.Faults, func(f fsck.Fault) bool { return f.Path == path && strings.Contains(f.Problem, problem) })
			}
			if r.Version != 3 || r.Files < 3 || !told(c.path, c.want) || !told(filepath.Base(missing), "it is missing") || r.Orphans.Files+r.Young.Files > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestLogCheckpointThatDiffersFromTheCommitsIsFound(t *testing.T) {
	origin := t.TempDir()
	makeTable(t, tabletest.Local(t, origin), 0, 2, nil)
	var lines []string
	for _, name := range []string{"00000000000000000000.json", "00000000000000000001.json"} {
		body, err := os.ReadFile(filepath.Join(origin, "_delta_log", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(body)) {
			if !strings.HasPrefix(line, `{"commitInfo"`) && (name[19] == '1' || !strings.HasPrefix(line, `{"txn"`)) {
				lines = append(lines, line)
			}
		}
	}
	has := func(kind string) int {
		return slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"`+kind) })
	}
	for name, c := range map[string]struct {
		change func([]string) []string
		want   string
	}{
		"the same":    {func(l []string) []string { return l }, ""},
		"a file less": {func(l []string) []string { return slices.Delete(l, has("add"), has("add")+1) }, "it lacks 1 files"},
		"a file more": {func(l []string) []string {
			return append(l, `{"add":{"path":"more","partitionValues":{},"size":1,"modificationTime":0,"dataChange":false}}`)
		}, "1 of its files are not in the table"},
		"another partition": {func(l []string) []string {
			l[has("add")] = strings.Replace(l[has("add")], `"partitionValues":{}`, `"partitionValues":{"note":"x"}`, 1)
			return l
		}, "1 of its files have other partition values"},
		"the same partition": {func(l []string) []string {
			l[has("add")] = strings.Replace(l[has("add")], `"partitionValues":{}`, `"partitionValues":{"note":null}`, 1)
			return l
		}, ""},
		"another txn": {func(l []string) []string {
			l[has("txn")] = `{"txn":{"appId":"test","version":9}}`
			return l
		}, `its txn of "test" is not of version 1`},
		"another protocol": {func(l []string) []string {
			l[has("protocol")] = `{"protocol":{"minReaderVersion":1,"minWriterVersion":4}}`
			return l
		}, "its protocol is another one"},
		"another schema": {func(l []string) []string {
			l[has("metaData")] = strings.Replace(l[has("metaData")], "note", "memo", 1)
			return l
		}, "its metadata is another one"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
				t.Fatal(err)
			}
			body := strings.Join(c.change(slices.Clone(lines)), "\n")
			if err := os.WriteFile(filepath.Join(folder, "_delta_log", "00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"), []byte(body), 0o666); err != nil {
				t.Fatal(err)
			}
			found := ""
			err := commitlog.New(tabletest.Local(t, folder)).Verify(t.Context(), func(f commitlog.LogFault) { found += f.Problem + "\n" })
			if err != nil || (found == "") != (c.want == "") || !strings.Contains(found, c.want) {
				t.Errorf("found %q, %v", found, err)
			}
		})
	}
}

// TestDeletionVectorThatIsMissingOrDamagedIsAFault and its file stays in the table: nobody knows which of its rows were deleted.
func TestDeletionVectorThatIsMissingOrDamagedIsAFault(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t testing.TB, vector string)
		want   string
	}{
		"missing": {func(t testing.TB, vector string) { _ = os.Remove(vector) }, "is missing"},
		"cut":     {func(t testing.TB, vector string) { rewrite(t, vector, func(b []byte) []byte { return b[:9] }) }, "has 9 bytes, too few"},
		"damaged": {func(t testing.TB, vector string) {
			rewrite(t, vector, func(b []byte) []byte { b[len(b)-5]++; return b })
		}, "the checksum is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			store := tabletest.Local(t, folder)
			makeTable(t, store, 0, 2, map[string]string{"delta.enableDeletionVectors": "true"})
			tabletest.DeleteRow(t, store)
			vectors, err := filepath.Glob(filepath.Join(folder, "deletion_vector_*.bin"))
			if err != nil || len(vectors) != 1 {
				t.Fatal(vectors, err)
			}
			if r := check(t, folder); len(r.Faults) > 0 {
				t.Errorf("whole: %+v", r.Faults)
			}
			c.damage(t, vectors[0])
			r := check(t, folder)
			if r.Files != 2 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Problem, c.want) {
				t.Errorf("%+v", r)
			}
			if removed, err := fsck.RemoveMissing(t.Context(), store, r, table.Options{}, time.Now()); err != nil || removed.Version >= 0 {
				t.Errorf("removed %+v, %v", removed, err)
			}
		})
	}
}

// TestDamageBehindALogCheckpointIsAFaultAmongOthers has commits missing or damaged from which nobody reads the newest version any more: its
// files are checked all the same, and nothing is called an orphan.
func TestDamageBehindALogCheckpointIsAFaultAmongOthers(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"missing": os.Remove,
		"damaged": func(file string) error { return os.WriteFile(file, []byte(`{"add":`), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			store := tabletest.Local(t, folder)
			makeTable(t, store, 0, 3, nil)
			if _, err := commitlog.New(store).Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			commit := "_delta_log/00000000000000000001.json"
			missing := dataFiles(t, folder)[0]
			if err := errors.Join(damage(filepath.Join(folder, commit)), os.Remove(missing), os.WriteFile(filepath.Join(folder, "stray.parquet"), nil, 0o666)); err != nil {
				t.Fatal(err)
			}
			r := check(t, folder)
			if r.Version != 2 || r.Files != 3 || len(r.Faults) != 2 || r.Faults[0].Path != commit || r.Faults[1].Path != filepath.Base(missing) || r.Orphans.Files+r.Young.Files > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestDamageInAnyColumnOfALogCheckpointIsFound damages the pages of one column after the other, also of those that have nothing
// but nulls: other readers read them.
func TestDamageInAnyColumnOfALogCheckpointIsFound(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeTable(t, store, 0, 2, nil)
	if _, err := commitlog.New(store).Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(folder, "_delta_log", "00000000000000000001.checkpoint.parquet")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquetfile.Open(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range file.Metadata().RowGroups[0].Columns {
		column, start, size, err := file.Chunk(0, i)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(whole)
		for at := start; at < start+size; at++ {
			damaged[at] = 0xff
		}
		if err := os.WriteFile(name, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if r := check(t, folder); len(r.Faults) != 1 || !strings.HasSuffix(name, r.Faults[0].Path) {
			t.Errorf("%v: %+v", column.PathInSchema, r.Faults)
		}
	}
}

func TestOrphansAreCounted(t *testing.T) {
	folder := t.TempDir()
	makeTable(t, tabletest.Local(t, folder), 0, 1, nil)
	for name, age := range map[string]time.Duration{"old.parquet": 8 * 24 * time.Hour, "young.parquet": time.Hour} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte("1234"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if r := check(t, folder); len(r.Faults) > 0 || r.Orphans.Files != 1 || r.Orphans.Bytes != 4 || r.Young.Files != 1 {
		t.Errorf("%+v", r)
	}
}

func TestMissingFilesAreRemovedWhenTold(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeTable(t, store, 0, 4, nil)
	for _, name := range dataFiles(t, folder)[:2] {
		_ = os.Remove(name)
	}
	r := check(t, folder)
	makeTable(t, store, 4, 5, nil) // an append comes between
	removed, err := fsck.RemoveMissing(t.Context(), store, r, table.Options{}, time.Now())
	if err != nil || removed != (fsck.Removed{Version: 5, Files: 2, Rows: 6}) {
		t.Errorf("%+v, %v", removed, err)
	}
	if r := check(t, folder); len(r.Faults) > 0 || r.Files != 3 {
		t.Errorf("%+v", r)
	}
	if removed, err := fsck.RemoveMissing(t.Context(), store, r, table.Options{}, time.Now()); err != nil || removed.Version >= 0 {
		t.Errorf("again: %+v, %v", removed, err)
	}
	if n := count(t, store); n != 9 {
		t.Errorf("%d rows", n)
	}
}

func TestMissingFilesOfAnAppendOnlyTableStay(t *testing.T) {
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	makeTable(t, store, 0, 2, map[string]string{"delta.appendOnly": "true"})
	_ = os.Remove(dataFiles(t, folder)[0])
	if _, err := fsck.RemoveMissing(t.Context(), store, check(t, folder), table.Options{}, time.Now()); err == nil || !strings.Contains(err.Error(), "delta.appendOnly") {
		t.Errorf("got %v", err)
	}
}

// TestRepairThatDiesAnywhereIsMadeOnce dies, or is lied to, at each operation on storage, and starts again.
func TestRepairThatDiesAnywhereIsMadeOnce(t *testing.T) {
	origin := t.TempDir()
	makeTable(t, tabletest.Local(t, origin), 0, 2, nil)
	_ = os.Remove(dataFiles(t, origin)[0])
	report := check(t, origin)
	for _, mode := range append(slices.Clone(storagetest.Modes), storagetest.Zombie) {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			for at := 0; ; at++ {
				folder := t.TempDir()
				if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
					t.Fatal(err)
				}
				store := tabletest.Local(t, folder)
				crash := &storagetest.Crash{At: at, Mode: mode, Delay: 3}
				_, err := fsck.RemoveMissing(t.Context(), crash.Wrap(store), report, table.Options{}, time.Now())
				crash.Deliver()
				if !crash.Happened() {
					if err != nil || at < 1 {
						t.Fatalf("after %d operations: %v", at, err)
					}
					return
				}
				if _, err := fsck.RemoveMissing(t.Context(), store, report, table.Options{}, time.Now()); err != nil {
					t.Fatalf("%s: %v", crash.Op, err)
				}
				if r := check(t, folder); r.Version != 2 || r.Files != 1 || len(r.Faults) > 0 || count(t, store) != 3 {
					t.Fatalf("%s: %+v", crash.Op, r)
				}
			}
		})
	}
}

func count(t testing.TB, store storage.Store) (n int64) {
	t.Helper()
	s, err := table.New(store, table.Options{}).Snapshot(t.Context(), table.Newest)
	if err == nil {
		err = s.Scan(t.Context(), table.ScanOptions{}, func(r arrow.Record) error { n += r.NumRows(); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
