// Package local keeps objects as files under one folder of a local disk.
//
// It is the storage backend for tables, checkpoints and landing folders on disks that have hard links, POSIX locks on
// open files and an fsync that means it (ext4, xfs, btrfs, apfs, tmpfs). Keys are paths below the root.
//
// How a write becomes durable and visible, in this order, each step on disk before the next:
//
//	put      write _staging/ATTEMPT/.put-N, fsync, link to the key (fails if it exists), fsync the key's folder
//	stage    write _staging/ATTEMPT/KEY
//	publish  fsync it, link to KEY, fsync KEY's folder
//	settle   unlink _staging/ATTEMPT/KEY
//
// ATTEMPT is a fresh UUID for each Store, and its folder holds .lock, on which the Store keeps a lock for as long as it
// lives: who can take that lock knows that the attempt is dead, however long it has been silent (a stopped process keeps
// its locks). So a sweep needs no clock. A staged name that outlives its publishing tells the sweep of the next start
// which data files a dead attempt may have left without a commit.
//
// Nothing is ever renamed over an existing file.
package local

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/storage"
)

// stagingFolder lies directly under the root; readers of Delta tables ignore folders whose names begin with "_".
const stagingFolder = "_staging"

// Store is a folder. Its zero value is not usable; see New.
type Store struct {
	root string

	mu      sync.Mutex
	attempt *attempt            // nil until something is written
	folders map[string]struct{} // known to exist and to be durable
	puts    int
}

var _ storage.Store = (*Store)(nil)

// New returns the store rooted at a folder. It does no I/O; the folder is made when something is written.
func New(root string) *Store {
	return &Store{root: filepath.Clean(root), folders: map[string]struct{}{}}
}

// URL returns the folder's path.
func (s *Store) URL() string { return s.root }

// Elsewhere is for storage.Elsewhere: a store of any folder.
func (s *Store) Elsewhere(root string) (storage.Store, error) { return New(root), nil }

// Close unlocks what this store has staged, so that the next Sweep of any process takes it for dead. With nothing
// staged it leaves nothing behind.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempt == nil {
		return nil
	}
	err := s.attempt.release()
	s.attempt = nil
	if err != nil {
		return s.fail("close", "", err)
	}
	return nil
}

func (s *Store) path(key string) string { return filepath.Join(s.root, filepath.FromSlash(key)) }

// Get reads a whole file.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) { return s.GetInto(ctx, key, nil) }

// GetInto is storage.GetInto.
func (s *Store) GetInto(ctx context.Context, key string, buf []byte) ([]byte, error) {
	if err := s.check(ctx, "get", key); err != nil {
		return nil, err
	}
	body, err := readFile(s.path(key), buf)
	if err != nil {
		return nil, s.fail("get", key, err)
	}
	return body, nil
}

// readFile is os.ReadFile, into memory that buf has if it has room.
func readFile(path string, buf []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if need := int(info.Size()) + bytes.MinRead; cap(buf) < need { // so much is to be free when the end is met
		buf = make([]byte, 0, need)
	}
	body := bytes.NewBuffer(buf[:0])
	if _, err := body.ReadFrom(f); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// Open opens a file.
func (s *Store) Open(ctx context.Context, key string) (storage.Object, error) {
	if err := s.check(ctx, "open", key); err != nil {
		return nil, err
	}
	if _, err := statFile(s.path(key)); err != nil { // a pipe is not even opened: that waits for who writes to it
		return nil, s.fail("open", key, err)
	}
	f, err := os.Open(s.path(key))
	if err != nil {
		return nil, s.fail("open", key, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, s.fail("open", key, err)
	}
	return &object{file: f, size: info.Size(), store: s, key: key}, nil
}

type object struct {
	file  *os.File
	size  int64
	store *Store
	key   string
}

func (o *object) Size() int64 { return o.size }

func (o *object) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = o.store.fail("read", o.key, err)
	}
	return n, err
}

func (o *object) Close() error {
	if err := o.file.Close(); err != nil {
		return o.store.fail("close", o.key, err)
	}
	return nil
}

// Stat describes a file.
func (s *Store) Stat(ctx context.Context, key string) (storage.Info, error) {
	if err := s.check(ctx, "stat", key); err != nil {
		return storage.Info{}, err
	}
	info, err := statFile(s.path(key))
	if err != nil {
		return storage.Info{}, s.fail("stat", key, err)
	}
	return storage.Info{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil
}

// statFile describes the file at a path, behind links if need be. What is no file is none of the store's objects.
func statFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "stat", Path: path, Err: &notFileError{info.Mode()}}
	}
	return info, err
}

// Delete unlinks a file.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := s.check(ctx, "delete", key); err != nil {
		return err
	}
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.fail("delete", key, err)
	}
	return nil
}

// DeleteAll unlinks files, one by one.
func (s *Store) DeleteAll(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := s.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func newAttemptName() string { return uuid.NewString() }
