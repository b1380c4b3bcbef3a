package commitlog

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// memStore is a store in memory that writes down its operations and can be told how a put ends.
type memStore struct {
	storage.Store // nil: what is not defined here is not called

	mu       sync.Mutex
	objects  map[string][]byte
	modified map[string]time.Time // of those that have one
	ops      []string
	// onPut is asked before every put, without the lock. It may put objects of its own.
	onPut func(key string, body []byte) putEnd
	// onGet is asked before every get, without the lock. Its error is the get's.
	onGet func(key string) error
	// onRead is asked before every read of an open object, with how many bytes it is of. Its error is the read's.
	onRead func(n int) error
}

// putEnd is how a put ends.
type putEnd int

const (
	plainly        putEnd = iota
	lostAnswer            // stored if the key is free, answered with Unknown
	lostRequest           // not stored, answered with Unknown
	falselyRefused        // stored if the key is free, answered with Exists
)

func newMemStore() *memStore { return &memStore{objects: map[string][]byte{}} }

func (s *memStore) URL() string { return "mem:table" }

func (s *memStore) log(format string, args ...any) {
	s.ops = append(s.ops, fmt.Sprintf(format, args...))
}

// short is the part of a key that tells it apart in a transcript.
func short(key string) string {
	name := strings.TrimPrefix(key, logDir)
	if v, ok := parseKey(key); ok && v.commit {
		return fmt.Sprint(v.version)
	}
	return name
}

func (s *memStore) Get(ctx context.Context, key string) ([]byte, error) {
	if s.onGet != nil {
		if err := s.onGet(key); err != nil {
			return nil, &storage.Error{Op: "get", Key: key, Err: err}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, &storage.Error{Op: "get", Key: key, Err: err}
	}
	body, ok := s.objects[key]
	if !ok {
		s.log("get %s: absent", short(key))
		return nil, &storage.Error{Op: "get", Key: key, Err: storage.ErrNotExist}
	}
	s.log("get %s", short(key))
	return body, nil
}

func (s *memStore) Open(ctx context.Context, key string) (storage.Object, error) {
	body, err := s.Get(ctx, key)
	return memObject{bytes.NewReader(body), s.onRead}, err
}

// memObject is an open object.
type memObject struct {
	*bytes.Reader
	onRead func(n int) error // asked before every read
}

func (memObject) Close() error { return nil }

func (o memObject) ReadAt(p []byte, off int64) (int, error) {
	if o.onRead != nil {
		if err := o.onRead(len(p)); err != nil {
			return 0, err
		}
	}
	return o.Reader.ReadAt(p, off)
}

func (s *memStore) List(_ context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	s.mu.Lock()
	s.log("list")
	var found []storage.Info
	for key, body := range s.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			found = append(found, storage.Info{Key: key, Size: int64(len(body)), Modified: s.modified[key]})
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b storage.Info) int { return strings.Compare(a.Key, b.Key) })
	for _, info := range found {
		if err := fn(info); err != nil {
			return err
		}
	}
	return nil
}

func (s *memStore) PutIfAbsent(_ context.Context, key string, body []byte) (storage.Outcome, error) {
	end := plainly
	if s.onPut != nil {
		end = s.onPut(key, body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, taken := s.objects[key]
	if !taken && end != lostRequest {
		s.objects[key] = slices.Clone(body)
	}
	outcome := storage.Stored
	switch {
	case end == lostAnswer || end == lostRequest:
		outcome = storage.Unknown
	case taken || end == falselyRefused:
		outcome = storage.Exists
	}
	s.log("put %s: %v", short(key), outcome)
	if outcome == storage.Unknown {
		return outcome, &storage.Error{Op: "put", Key: key, Err: fmt.Errorf("connection reset")}
	}
	return outcome, nil
}

func (s *memStore) DeleteAll(_ context.Context, keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.objects, key)
	}
	s.log("delete %d", len(keys))
	return nil
}

// write stores lines as a commit, whatever was there.
func (s *memStore) write(version int64, lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[commitKey(version)] = []byte(strings.Join(lines, "\n") + "\n")
}

func (s *memStore) put(name, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path.Join(logDir, name)] = []byte(body)
}

func (s *memStore) drop(version int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, commitKey(version))
}

// transcript returns the operations since the last call.
func (s *memStore) transcript() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ops := s.ops
	s.ops = nil
	return ops
}

// newest parses the newest commit there.
func (s *memStore) newest(t testing.TB) *Commit {
	t.Helper()
	var c *Commit
	for v := int64(0); ; v++ {
		body, ok := s.objects[commitKey(v)]
		if !ok {
			return c
		}
		var err error
		if c, err = ParseCommit(v, body); err != nil {
			t.Fatal(err)
		}
	}
}

// Lines of hand-made logs.
const (
	lineProtocol = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	lineSchema   = `{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}`
	lineMetadata = `{"metaData":{"id":"T","format":{"provider":"parquet","options":{}},"schemaString":"` + lineSchema + `","partitionColumns":[],"configuration":{},"createdTime":1}}`
)

func lineAdd(path string) string {
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":10,"modificationTime":1,"dataChange":true}}`, path)
}

func lineRemove(path string) string {
	return fmt.Sprintf(`{"remove":{"path":%q,"deletionTimestamp":2,"dataChange":true,"size":10}}`, path)
}

func lineTxn(app string, batch int64) string {
	return fmt.Sprintf(`{"txn":{"appId":%q,"version":%d,"lastUpdated":3}}`, app, batch)
}

func lineInfo(txnID string) string {
	return fmt.Sprintf(`{"commitInfo":{"timestamp":5,"operation":"WRITE","userMetadata":"by %s","txnId":%q}}`, txnID, txnID)
}
