package table

import (
	"bytes"
	"context"
	"io"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/storage"
)

// memStore keeps objects in memory, so that a test may make many of them.
type memStore struct {
	mu        sync.Mutex
	objects   map[string][]byte
	unsettled map[string]bool // staged, or published but not settled
}

func newMemStore() *memStore {
	return &memStore{objects: make(map[string][]byte), unsettled: make(map[string]bool)}
}

func (s *memStore) URL() string  { return "mem" }
func (s *memStore) Close() error { return nil }

func (s *memStore) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.objects[key]
	if !ok {
		return nil, &storage.Error{Op: "get", Key: key, Err: storage.ErrNotExist}
	}
	return bytes.Clone(body), nil
}

type memObject struct{ *bytes.Reader }

func (memObject) Close() error { return nil }

func (s *memStore) Open(ctx context.Context, key string) (storage.Object, error) {
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return memObject{bytes.NewReader(body)}, nil
}

func (s *memStore) Stat(ctx context.Context, key string) (storage.Info, error) {
	body, err := s.Get(ctx, key)
	return storage.Info{Key: key, Size: int64(len(body)), Modified: time.Unix(0, 0)}, err
}

func (s *memStore) List(_ context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	s.mu.Lock()
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			keys = append(keys, key)
		}
	}
	s.mu.Unlock()
	sort.Strings(keys)
	for _, key := range keys {
		if err := fn(storage.Info{Key: key}); err != nil {
			return err
		}
	}
	return nil
}

func (s *memStore) PutIfAbsent(_ context.Context, key string, body []byte) (storage.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[key]; ok {
		return storage.Exists, nil
	}
	s.objects[key] = bytes.Clone(body)
	return storage.Stored, nil
}

func (s *memStore) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
	return nil
}

func (s *memStore) DeleteAll(ctx context.Context, keys []string) error {
	for _, key := range keys {
		_ = s.Delete(ctx, key)
	}
	return nil
}

func (s *memStore) Unsettled(_ context.Context, fn func(string) error) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.unsettled {
		if err := fn(key); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func (s *memStore) Stage(_ context.Context, key string) (storage.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsettled[key] = true
	return &memStaged{store: s, key: key}, nil
}

func (s *memStore) Sweep(_ context.Context, keep func(string) (bool, error)) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for key := range s.unsettled {
		if _, published := s.objects[key]; published {
			s.mu.Unlock()
			ok, err := keep(key)
			s.mu.Lock()
			if err != nil {
				return n, err
			}
			if ok {
				delete(s.unsettled, key)
				continue
			}
		}
		delete(s.objects, key)
		delete(s.unsettled, key)
		n++
	}
	return n, nil
}

// dataKeys are the keys of the objects outside the log.
func (s *memStore) dataKeys() []string {
	var keys []string
	_ = s.List(context.Background(), "", "", func(i storage.Info) error {
		if !strings.HasPrefix(i.Key, "_") {
			keys = append(keys, i.Key)
		}
		return nil
	})
	return keys
}

type memStaged struct {
	store *memStore
	key   string
	body  bytes.Buffer
}

var _ io.Writer = (*memStaged)(nil)

func (f *memStaged) Write(p []byte) (int, error) { return f.body.Write(p) }

func (f *memStaged) Publish(context.Context) error {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.objects[f.key] = f.body.Bytes()
	return nil
}

func (f *memStaged) Settle(context.Context) error {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	delete(f.store.unsettled, f.key)
	return nil
}

func (f *memStaged) Abort(context.Context) error {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	delete(f.store.objects, f.key)
	delete(f.store.unsettled, f.key)
	return nil
}

// memoryOf is an account with a budget of its own.
func memoryOf(bytes int64) *memory.Account { return memory.New(bytes).Open("write", bytes) }
