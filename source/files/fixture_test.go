package files

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
)

var _ source.Source = (*Source)(nil)

// lines is a framer of lines, whose blocks hold a few records each.
type lines struct{ perBlock int }

func (f lines) Frame(r io.Reader, emit func(*source.Block) error) error {
	var values [][]byte
	var positions []int64
	var size int64
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		b := &source.Block{Values: values, Positions: positions, Bytes: size}
		err := emit(b)
		b.Release()
		values, positions, size = nil, nil, 0
		return err
	}
	scanner := bufio.NewScanner(r)
	for n := int64(1); scanner.Scan(); n++ {
		values = append(values, bytes.Clone(scanner.Bytes()))
		positions = append(positions, n)
		size += int64(len(scanner.Bytes())) + 1
		if len(values) == f.perBlock {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	return flush()
}

// landing is a folder that tests write files into, with modification times of their choice.
type landing interface {
	storage.Store
	write(tb testing.TB, key, content string, modified time.Time)
}

// folder is a landing folder on the local disk.
type folder struct{ *local.Store }

func newFolder(tb testing.TB) folder { return folder{local.New(tb.TempDir())} }

func (f folder) write(tb testing.TB, key, content string, modified time.Time) {
	tb.Helper()
	path := filepath.Join(f.URL(), key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(path, modified, modified); err != nil {
		tb.Fatal(err)
	}
}

// inMemory is a store in memory. What the tests here don't need is missing.
type inMemory struct {
	storage.Store // nil

	mu       sync.Mutex
	objects  map[string]memoryObject
	putBytes int
}

type memoryObject struct {
	body     []byte
	modified time.Time
}

func newMemory() *inMemory { return &inMemory{objects: map[string]memoryObject{}} }

func (m *inMemory) URL() string { return "memory" }

func (m *inMemory) write(_ testing.TB, key, content string, modified time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = memoryObject{[]byte(content), modified}
}

func (m *inMemory) object(op, key string) (memoryObject, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return o, &storage.Error{Op: op, Key: key, Err: storage.ErrNotExist}
	}
	return o, nil
}

func (m *inMemory) Get(_ context.Context, key string) ([]byte, error) {
	o, err := m.object("get", key)
	return o.body, err
}

func (m *inMemory) Stat(_ context.Context, key string) (storage.Info, error) {
	o, err := m.object("stat", key)
	return storage.Info{Key: key, Size: int64(len(o.body)), Modified: o.modified}, err
}

type memoryReader struct{ *bytes.Reader }

func (memoryReader) Close() error { return nil }

func (m *inMemory) Open(_ context.Context, key string) (storage.Object, error) {
	o, err := m.object("open", key)
	if err != nil {
		return nil, err
	}
	return memoryReader{bytes.NewReader(o.body)}, nil
}

func (m *inMemory) List(_ context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	m.mu.Lock()
	var infos []storage.Info
	for key, o := range m.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			infos = append(infos, storage.Info{Key: key, Size: int64(len(o.body)), Modified: o.modified})
		}
	}
	m.mu.Unlock()
	slices.SortFunc(infos, func(a, b storage.Info) int { return strings.Compare(a.Key, b.Key) })
	for _, info := range infos {
		if err := fn(info); err != nil {
			return err
		}
	}
	return nil
}

func (m *inMemory) PutIfAbsent(_ context.Context, key string, body []byte) (storage.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; ok {
		return storage.Exists, nil
	}
	m.objects[key] = memoryObject{body: bytes.Clone(body)}
	m.putBytes += len(body)
	return storage.Stored, nil
}

func (m *inMemory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

func (m *inMemory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range m.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// noon is when files of the tests are written, unless they say otherwise.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)

// at returns noon and so many seconds.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// open makes a source with settings that fit most tests; change may alter them.
func open(tb testing.TB, store storage.Store, change func(*Config)) *Source {
	tb.Helper()
	cfg := Config{
		Store:       store,
		DisplayRoot: "landing",
		Framer:      lines{3},
		Bookkeeping: newMemory(),
		Now:         func() time.Time { return at(3600) },
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// plan is an entry of an offset log.
type plan struct {
	batch  int64
	ranges []offsetlog.Range
}

func history(plans []plan) source.History {
	return source.History{
		First: len(plans) == 0,
		Batches: func(fn func(int64, []offsetlog.Range) error) error {
			for _, p := range plans {
				if err := fn(p.batch, p.ranges); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func restore(tb testing.TB, s *Source, plans []plan) {
	tb.Helper()
	h := history(plans)
	h.First = false
	if err := s.Restore(tb.Context(), h); err != nil {
		tb.Fatalf("restore: %v", err)
	}
}

func next(tb testing.TB, s *Source, limits source.Limits) source.Planned {
	tb.Helper()
	planned, err := s.Next(tb.Context(), limits)
	if err != nil {
		tb.Fatalf("next: %v", err)
	}
	return planned
}

// partitions are the names of the planned files.
func partitions(planned source.Planned) []string {
	var names []string
	for _, r := range planned.Ranges {
		names = append(names, r.Partition)
	}
	return names
}

// records reads the ranges and returns "path:position:value" of each record.
func records(tb testing.TB, s *Source, ranges []offsetlog.Range) []string {
	tb.Helper()
	all, err := readAll(tb.Context(), s, ranges)
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	return all
}

func readAll(ctx context.Context, s *Source, ranges []offsetlog.Range) ([]string, error) {
	var all []string
	lost, err := s.Read(ctx, ranges, func(b *source.Block) error {
		if b.File == nil || b.File.Path != b.Partition {
			return fmt.Errorf("block of %q has file %+v", b.Partition, b.File)
		}
		for i, v := range b.Values {
			all = append(all, fmt.Sprintf("%s:%d:%s", b.Partition, b.Positions[i], v))
		}
		return nil
	})
	if len(lost) > 0 {
		return nil, fmt.Errorf("lost %v", lost)
	}
	return all, err
}

// mustContain checks an error's text for the parts that a user needs.
func mustContain(tb testing.TB, err error, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatal("no error")
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			tb.Errorf("error %q does not say %q", err, p)
		}
	}
}
