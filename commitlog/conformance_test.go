package commitlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
)

// dirStore reads a folder that is never written to.
type dirStore struct {
	storage.Store // nil: what is not defined here is not called
	dir           string
}

func (s dirStore) URL() string { return "file://" + s.dir }

func (s dirStore) Get(_ context.Context, key string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.dir, key))
}

func (s dirStore) Open(ctx context.Context, key string) (storage.Object, error) {
	body, err := s.Get(ctx, key)
	return memObject{bytes.NewReader(body), nil}, err
}

func (s dirStore) List(_ context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	entries, err := os.ReadDir(filepath.Join(s.dir, prefix))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if e.Type().IsRegular() && prefix+e.Name() > startAfter {
			if err := fn(storage.Info{Key: prefix + e.Name(), Size: info.Size()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// conformanceDir is the folder of tables that others wrote.
func conformanceDir(t testing.TB) string {
	t.Helper()
	shared := os.Getenv("SLUICE_SHARED")
	if shared == "" {
		shared = "../../shared"
	}
	dir, err := filepath.Abs(filepath.Join(shared, "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the tables that others wrote are not there; set SLUICE_SHARED to the folder that has conformance/: %v", err)
	}
	return dir
}

// TestTablesThatOthersWrote compares replay with a plain one over encoding/json, for every table that is not refused.
func TestTablesThatOthersWrote(t *testing.T) {
	dir := conformanceDir(t)
	var tables []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "_delta_log" {
			tables = append(tables, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, table := range tables {
		name, err := filepath.Rel(dir, table)
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimSuffix(strings.TrimSuffix(name, "/delta"), "/delta_lake")
		t.Run(name, func(t *testing.T) {
			l := New(dirStore{dir: table})
			h, err := l.Load(context.Background())
			s, filesErr := l.Files(context.Background(), -1)
			if err == nil {
				err = filesErr
			}
			if want := refusals[name]; want != "" || err != nil {
				if err == nil || want == "" || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			read++
			compareWithPlainReplay(t, table, h, s)
		})
	}
	t.Logf("%d tables read, %d refused", read, len(tables)-read)
}

func compareWithPlainReplay(t *testing.T, table string, h *Head, s *State) {
	t.Helper()
	want, err := plainReplay(filepath.Join(table, "_delta_log"))
	if errors.Is(err, fs.ErrNotExist) {
		return // its first commits have been cleaned up: package table compares the rows
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(table, "/parquet_row_group_skipping") {
		want.schema = compactJSON(s.Metadata.SchemaString) // its log checkpoint was made by hand, and has one more column
	}
	got := plainState{version: s.Version, schema: compactJSON(s.Metadata.SchemaString), protocol: fmt.Sprint(s.Protocol.MinReaderVersion, s.Protocol.MinWriterVersion)}
	for _, a := range seqtest.All(t, s.Files.All(t.Context())) {
		got.files = append(got.files, a.Key().Path+a.Key().DV)
		got.bytes += a.Size
	}
	slices.Sort(got.files)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(plainState{})); diff != "" {
		t.Error(diff)
	}
	if h.Version != want.version || s.Files.Len() != len(want.files) || s.Files.Bytes() != want.bytes || h.Schema() == nil || len(h.Schema().Fields) == 0 {
		t.Errorf("head %+v", h)
	}
}

// compactJSON is a text as it is without white space: an engine may write it anew in a log checkpoint.
func compactJSON(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

type plainState struct {
	version  int64
	protocol string
	schema   string
	files    []string
	bytes    int64
}

type plainFile struct {
	Path           string
	Size           int64
	DeletionVector struct {
		StorageType, PathOrInlineDv string
		Offset                      *int
	}
}

// absoluteLocal is the begin of an absolute path of the local file system that has a scheme.
var absoluteLocal = regexp.MustCompile(`^file:(//)?/\b`)

func (f *plainFile) key() string {
	v := f.DeletionVector
	path := absoluteLocal.ReplaceAllString(f.Path, "/")
	if v.Offset == nil {
		return path + v.StorageType + v.PathOrInlineDv
	}
	return fmt.Sprintf("%s%s%s@%d", path, v.StorageType, v.PathOrInlineDv, *v.Offset)
}

// plainReplay replays a log as simply as can be.
func plainReplay(logDir string) (plainState, error) {
	names, err := filepath.Glob(filepath.Join(logDir, "*.json"))
	if err != nil {
		return plainState{}, err
	}
	if _, err := os.Stat(filepath.Join(logDir, "00000000000000000000.json")); err != nil {
		return plainState{}, err
	}
	isCommit := regexp.MustCompile(`/\d{20}\.json$`)
	s := plainState{version: -1}
	live := map[string]int64{}
	for _, name := range names {
		if !isCommit.MatchString(name) {
			continue
		}
		if s.version, err = strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".json"), 10, 64); err != nil {
			return s, err
		}
		if err := s.commit(name, live); err != nil {
			return s, err
		}
	}
	s.files = slices.Sorted(maps.Keys(live))
	for _, size := range live {
		s.bytes += size
	}
	return s, nil
}

func (s *plainState) commit(name string, live map[string]int64) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var action struct {
			Protocol *struct{ MinReaderVersion, MinWriterVersion int }
			MetaData *struct{ SchemaString string }
			Add      *plainFile
			Remove   *plainFile
		}
		if err := d.Decode(&action); err != nil {
			return err
		}
		switch {
		case action.Protocol != nil:
			s.protocol = fmt.Sprint(action.Protocol.MinReaderVersion, action.Protocol.MinWriterVersion)
		case action.MetaData != nil:
			s.schema = compactJSON(action.MetaData.SchemaString)
		case action.Add != nil:
			live[action.Add.key()] = action.Add.Size
		case action.Remove != nil:
			delete(live, action.Remove.key())
		}
	}
	return nil
}
