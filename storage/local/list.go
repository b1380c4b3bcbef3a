package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sluicedata/sluice/storage"
)

// List walks the folder in byte order of the keys. Links to files count as files, links to folders are not followed.
func (s *Store) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	folder := "" // the deepest folder that holds every match
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		folder = prefix[:i+1]
	}
	return s.list(ctx, folder, prefix, startAfter, fn)
}

// list lists folder, which is "" or ends in a slash.
func (s *Store) list(ctx context.Context, folder, prefix, startAfter string, fn func(storage.Info) error) error {
	if err := ctx.Err(); err != nil {
		return s.fail("list", prefix, err)
	}
	entries, err := readFolder(filepath.Join(s.root, filepath.FromSlash(folder)))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		return s.fail("list", folder, err)
	}
	for _, e := range entries {
		key := folder + e.name
		switch {
		case folder == "" && e.name == stagingFolder+"/":
		case e.entry.IsDir():
			if !mayHold(key, prefix, startAfter) {
				continue
			}
			if err := s.list(ctx, key, prefix, startAfter, fn); err != nil {
				return err
			}
		case key > startAfter && strings.HasPrefix(key, prefix):
			info, err := os.Stat(s.path(key))
			if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
				continue // gone since, a dangling link, a pipe
			}
			if err != nil {
				return s.fail("list", key, err)
			}
			if err := fn(storage.Info{Key: key, Size: info.Size(), Modified: info.ModTime()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayHold says whether keys that begin with folder can begin with prefix and be greater than startAfter.
func mayHold(folder, prefix, startAfter string) bool {
	if !strings.HasPrefix(folder, prefix) && !strings.HasPrefix(prefix, folder) {
		return false
	}
	return folder > startAfter || strings.HasPrefix(startAfter, folder)
}

type entry struct {
	name  string // with a slash behind folders, so that sorting by name is sorting by key
	entry fs.DirEntry
}

func readFolder(path string) ([]entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	found, err := f.ReadDir(-1)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(found))
	for i, e := range found {
		entries[i] = entry{e.Name(), e}
		if e.IsDir() {
			entries[i].name += "/"
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return entries, nil
}
