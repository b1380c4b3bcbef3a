package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sweep removes what attempts have left whose lock is free.
func (s *Store) Sweep(ctx context.Context, keep func(key string) (bool, error)) (int, error) {
	staging := filepath.Join(s.root, stagingFolder)
	entries, err := os.ReadDir(staging)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		return 0, s.fail("sweep", stagingFolder, err)
	}
	removed := 0
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return removed, s.fail("sweep", stagingFolder, err)
		}
		folder := filepath.Join(staging, e.Name())
		lock, err := takeLock(folder)
		if err != nil {
			return removed, s.fail("sweep", stagingFolder+"/"+e.Name(), err)
		}
		if lock == nil {
			continue
		}
		n, err := s.sweepAttempt(folder, keep)
		removed += n
		if closeErr := lock.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return removed, s.fail("sweep", stagingFolder+"/"+e.Name(), err)
		}
	}
	return removed, nil
}

func (s *Store) sweepAttempt(folder string, keep func(string) (bool, error)) (int, error) {
	removed := 0
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // its owner has released it meanwhile, with nothing in it
			return nil
		case err != nil || e.IsDir() || name == filepath.Join(folder, lockName):
			return err
		}
		relative, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		if key := filepath.ToSlash(relative); !strings.HasPrefix(key, ".put-") {
			n, err := s.unpublish(name, key, keep)
			removed += n
			if err != nil {
				return err
			}
		}
		removed++
		return os.Remove(name)
	})
	if err != nil {
		return removed, err
	}
	return removed, removeEmpty(folder)
}

// unpublish removes the published name of a staged file, if it has one that is not to be kept.
func (s *Store) unpublish(name, key string, keep func(string) (bool, error)) (int, error) {
	final := s.path(key)
	there, err := os.Lstat(final)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	staged, err := os.Lstat(name)
	if err != nil || !os.SameFile(staged, there) {
		return 0, err
	}
	if kept, err := keep(key); err != nil || kept {
		return 0, err
	}
	return 1, os.Remove(final)
}
