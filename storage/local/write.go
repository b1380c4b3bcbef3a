package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sluicedata/sluice/storage"
)

// PutIfAbsent writes aside and links.
func (s *Store) PutIfAbsent(ctx context.Context, key string, body []byte) (storage.Outcome, error) {
	if err := s.check(ctx, "put", key); err != nil {
		return storage.Unknown, err
	}
	aside, err := s.writeAside(body)
	if err != nil {
		return storage.Unknown, s.fail("put", key, err)
	}
	defer func() { _ = os.Remove(aside) }() // a leftover is swept with the attempt
	switch err := s.link(aside, key); {
	case errors.Is(err, fs.ErrExist):
		return storage.Exists, nil
	case err != nil:
		return storage.Unknown, s.fail("put", key, err)
	}
	return storage.Stored, nil
}

func (s *Store) writeAside(body []byte) (string, error) {
	attempt, n, err := s.living()
	if err != nil {
		return "", err
	}
	name := filepath.Join(attempt.folder, fmt.Sprintf(".put-%d", n))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(name)
		return "", err
	}
	return name, nil
}

// living returns this store's attempt, begun if need be, and a number not given before.
func (s *Store) living() (*attempt, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempt == nil {
		if err := s.makeFolderLocked(s.root); err != nil {
			return nil, 0, err
		}
		a, err := begin(filepath.Join(s.root, stagingFolder))
		if err != nil {
			return nil, 0, err
		}
		s.attempt = a
	}
	s.puts++
	return s.attempt, s.puts, nil
}

// link gives the file at from the name key as well, and makes that durable. It never replaces.
func (s *Store) link(from, key string) error {
	to := s.path(key)
	if err := s.makeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrNotExist) { // the folder was removed behind our back
		s.forget()
		if err := s.makeFolder(filepath.Dir(to)); err != nil {
			return err
		}
		err = os.Link(from, to)
	}
	switch {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.EMLINK):
		return fmt.Errorf("%w (the file system must support hard links)", err)
	case err != nil:
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// makeFolder makes a folder and its parents, durably.
func (s *Store) makeFolder(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.makeFolderLocked(path)
}

func (s *Store) makeFolderLocked(path string) error {
	if _, known := s.folders[path]; known {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		s.folders[path] = struct{}{}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := s.makeFolderLocked(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncFolder(parent); err != nil {
		_ = os.Remove(path) // the next try makes it again, and does not take it for durable
		return err
	}
	s.folders[path] = struct{}{}
	return nil
}

func (s *Store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.folders)
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Stage creates the file in this attempt's folder.
func (s *Store) Stage(ctx context.Context, key string) (storage.Staged, error) {
	if err := s.check(ctx, "stage", key); err != nil {
		return nil, err
	}
	attempt, _, err := s.living()
	if err != nil {
		return nil, s.fail("stage", key, err)
	}
	name := filepath.Join(attempt.folder, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, s.fail("stage", key, err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, s.fail("stage", key, err)
	}
	return &staged{store: s, key: key, name: name, file: f}, nil
}

type staged struct {
	store     *Store
	key       string
	name      string   // in the attempt's folder
	file      *os.File // nil once closed
	published bool
}

func (w *staged) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		return n, w.store.fail("write", w.key, err)
	}
	return n, nil
}

// Publish can be made once. After a failed fsync the kernel may have dropped what it could not write, and another fsync of the
// same file would say nothing of it.
func (w *staged) Publish(ctx context.Context) error {
	if err := w.store.check(ctx, "publish", w.key); err != nil {
		return err
	}
	if w.file == nil {
		return w.store.fail("publish", w.key, errors.New("it was published or has failed before; stage it anew"))
	}
	err := w.file.Sync()
	if closeErr := w.file.Close(); err == nil {
		err = closeErr
	}
	w.file = nil
	if err == nil {
		w.published = true // from here on the link may be there, even if an error says otherwise
		if err = w.store.link(w.name, w.key); errors.Is(err, fs.ErrExist) {
			w.published = false
		}
	}
	if err != nil {
		return w.store.fail("publish", w.key, err)
	}
	return nil
}

func (w *staged) Settle(context.Context) error {
	if err := os.Remove(w.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w.store.fail("settle", w.key, err)
	}
	return nil
}

// Abort removes the published name first: were it last, a crash between would leave a data file that no sweep knows.
func (w *staged) Abort(context.Context) error {
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
	if w.published {
		if err := os.Remove(w.store.path(w.key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return w.store.fail("abort", w.key, err)
		}
	}
	if err := os.Remove(w.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w.store.fail("abort", w.key, err)
	}
	return nil
}
