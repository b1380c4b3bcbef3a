package table

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
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

func TestForeignTablesReadAsTheirAuthorsSay(t *testing.T) {
	root := conformance(t)
	var tables []string
	for _, pattern := range []string{"dat-v0.0.3/*", "kernel-rs-golden/*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, found...)
	}
	var agreed, refused int
	for _, folder := range tables {
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			switch err := compareWithAuthor(t, folder); {
			case err == nil:
				agreed++
			case errors.As(err, new(*commitlog.UnsupportedError)), errors.Is(err, errNotShipped):
				refused++
				t.Skip(err)
			case name == "data-reader-partition-values" && strings.Contains(err.Error(), "rows differ"):
				t.Skip("its author wrote timestamps without a zone, and read them in one of his own")
			default:
				t.Error(err)
			}
		})
	}
	t.Logf("%d agree, %d are beyond what is supported or have no rows to compare with", agreed, refused)
	if agreed < 40 {
		t.Errorf("only %d tables could be compared", agreed)
	}
}

var errNotShipped = errors.New("its authors ship no rows")

func compareWithAuthor(t *testing.T, folder string) error {
	t.Helper()
	store := local.New(filepath.Join(folder, "delta"))
	defer store.Close()
	expected := expectedFiles(t, folder)
	if len(expected) == 0 {
		return errNotShipped
	}
	snap, err := New(store, Options{}).Snapshot(t.Context(), Newest)
	if err != nil {
		return err
	}
	var got, want rowSet
	err = snap.Scan(t.Context(), ScanOptions{}, func(r arrow.Record) error {
		got.add(rowTexts(r))
		return nil
	})
	if err != nil {
		return err
	}
	for _, file := range expected {
		dir := local.New(filepath.Dir(file))
		defer dir.Close()
		err := readFile(t.Context(), dir, filepath.Base(file), nullable(snap.Schema()), nil, func(r arrow.Record) error {
			want.add(rowTexts(r))
			return nil
		})
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

func expectedFiles(t *testing.T, folder string) []string {
	t.Helper()
	under := filepath.Join(folder, "expected")
	if latest := filepath.Join(under, "latest"); exists(latest) {
		under = latest
	}
	var files []string
	err := filepath.WalkDir(under, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".parquet") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
