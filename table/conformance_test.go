package table

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
)

// conformance is the folder with tables that other engines wrote, each with its expected rows. It is not part of the
// repository.
func conformance(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("SLUICE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	folder := filepath.Join(shared, "conformance")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no foreign tables at %s; set SLUICE_SHARED to the folder that holds conformance/", folder)
	}
	return folder
}

// eachForeign runs a test for each folder of the tables that others wrote which holds one of the name. It gets the folder and
// its path among them.
func eachForeign(t *testing.T, holds string, run func(t *testing.T, folder, name string)) {
	t.Helper()
	root := conformance(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != holds {
			return err
		}
		folder := filepath.Dir(path)
		name, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		t.Run(name, func(t *testing.T) { run(t, folder, name) })
		return filepath.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
}

// expectations are the files with the rows that are to be in a table, by version. They lie in expected/, expected/latest, and
// expected/v and a number.
func expectations(t *testing.T, folder string) map[int64][]string {
	t.Helper()
	byVersion := make(map[int64][]string)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".parquet") {
			return err
		}
		version := Newest
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(rel, string(filepath.Separator))
		if n, err := strconv.ParseInt(strings.TrimPrefix(first, "v"), 10, 64); err == nil {
			version = n
		}
		byVersion[version] = append(byVersion[version], path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return byVersion
}

// compareWithAuthor compares a version's rows with those in the files that its author left.
func compareWithAuthor(t *testing.T, snap *Snapshot, expected []string) error {
	t.Helper()
	var got, want rowSet
	err := snap.Scan(t.Context(), ScanOptions{}, func(r arrow.Record) error {
		got.add(rowTexts(r))
		return nil
	})
	if err != nil {
		return err
	}
	for _, file := range expected {
		dir := local.New(filepath.Dir(file))
		defer dir.Close()
		r := fileReader{file: place{reader: dir, key: filepath.Base(file)}, schema: nullable(snap.Schema().Logical()), fn: func(r arrow.Record) error {
			want.add(rowTexts(r))
			return nil
		}}
		err := r.read(t.Context())
		if err != nil {
			return err
		}
	}
	if got.n == want.n && got.sum == want.sum {
		return nil
	}
	slices.Sort(got.texts)
	slices.Sort(want.texts)
	diff := cmp.Diff(want.texts, got.texts)
	return fmt.Errorf("rows differ from the author's: %d, and %d of his (-want +got):\n%.2000s", got.n, want.n, diff)
}

// rowSet knows rows and how often each occurs, by a sum of hashes that does not depend on their order.
type rowSet struct {
	n     int
	sum   uint64
	texts []string // the first ones, to show
}

func (s *rowSet) add(rows []string) {
	for _, row := range rows {
		h := sha256.Sum256([]byte(row))
		s.sum += binary.LittleEndian.Uint64(h[:])
	}
	s.n += len(rows)
	if len(s.texts) < 10_000 {
		s.texts = append(s.texts, rows...)
	}
}

func nullable(t *schema.Type) *schema.Type {
	c := *t
	c.Fields = slices.Clone(t.Fields)
	for i := range c.Fields {
		c.Fields[i].Nullable = true
	}
	return &c
}
