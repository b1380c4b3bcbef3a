package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
)

func TestConformance(t *testing.T) {
	storagetest.Conformance(t, func(t *testing.T) func() storage.Store {
		root := filepath.Join(t.TempDir(), "not", "yet", "there")
		return func() storage.Store { return local.New(root) }
	})
}

func TestConformanceWrapped(t *testing.T) {
	storagetest.Conformance(t, func(t *testing.T) func() storage.Store {
		root := t.TempDir()
		return func() storage.Store {
			return storage.Wrap(local.New(root), func(_ *storage.Op, call func() error) error { return call() })
		}
	})
}

func TestCleanCloseLeavesNoStaging(t *testing.T) {
	root := t.TempDir()
	s := local.New(root)
	if _, err := s.PutIfAbsent(t.Context(), "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestSweepLeavesAnAttemptWhoseProcessIsSilentAlone(t *testing.T) {
	root := t.TempDir()
	silent := local.New(root)
	w, err := silent.Stage(t.Context(), "part")
	if err != nil {
		t.Fatal(err)
	}
	old := silentAttempt(t, root)
	if err := os.Chtimes(old, fixed, fixed); err != nil {
		t.Fatal(err)
	}
	if n, err := local.New(root).Sweep(t.Context(), func(string) (bool, error) { return false, nil }); n != 0 || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
	if err := w.Publish(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSweepClearsAFolderThatDiedBeforeItsLock(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "_staging", "half-born")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := local.New(root).Sweep(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// TestSweepsBesideThoseThatComeAndGo has owners begin and release attempts while others sweep.
func TestSweepsBesideThoseThatComeAndGo(t *testing.T) {
	root := t.TempDir()
	var owners, sweepers sync.WaitGroup
	var ended atomic.Bool
	for i := range 2 {
		owners.Go(func() {
			for n := range 300 {
				s, key := local.New(root), fmt.Sprintf("p=%d/%d", i, n)
				w, err := s.Stage(t.Context(), key)
				if err == nil {
					err = w.Publish(t.Context())
				}
				if err == nil {
					err = w.Settle(t.Context())
				}
				if err = errors.Join(err, s.Close()); err != nil {
					t.Error(err)
					return
				}
			}
		})
		sweepers.Go(func() {
			for !ended.Load() {
				if n, err := local.New(root).Sweep(t.Context(), func(string) (bool, error) { return false, nil }); n != 0 || err != nil {
					t.Errorf("Sweep: %d, %v", n, err)
					return
				}
			}
		})
	}
	owners.Wait()
	ended.Store(true)
	sweepers.Wait()
	for i := range 2 {
		if files, err := os.ReadDir(filepath.Join(root, fmt.Sprintf("p=%d", i))); len(files) != 300 || err != nil {
			t.Errorf("%d files, %v", len(files), err)
		}
	}
}

var fixed = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// silentAttempt returns the folder of the only attempt under root.
func silentAttempt(t *testing.T, root string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "_staging"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("attempts: %v, %v", entries, err)
	}
	return filepath.Join(root, "_staging", entries[0].Name())
}

// TestPublishThatFailedIsNotMadeAgain: after a failed fsync the kernel may have dropped what it could not write, and another
// one of the same file says nothing about it.
func TestPublishThatFailedIsNotMadeAgain(t *testing.T) {
	root := t.TempDir()
	w, err := local.New(root).Stage(t.Context(), "folder/part")
	if err != nil {
		t.Fatal(err)
	}
	inTheWay := filepath.Join(root, "folder")
	if err := os.WriteFile(inTheWay, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(t.Context()); err == nil {
		t.Fatal("published into a folder that is a file")
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(t.Context()); err == nil {
		t.Error("published after a failure")
	}
	if _, err := os.Stat(filepath.Join(inTheWay, "part")); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
	if err := w.Abort(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOnlyFilesAreObjects has other things in a folder, and links to them. That the test ends shows that nobody waits for a pipe.
func TestOnlyFilesAreObjects(t *testing.T) {
	root := t.TempDir()
	s := local.New(root)
	if _, err := s.PutIfAbsent(t.Context(), "folder/file", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"a": "folder/file", "b": "folder", "c": "pipe", "d": "/dev/zero", "e": "nothing"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[string]string{
		"folder/file": "", "a": "",
		"folder": "there is a folder", "b": "there is a folder", "pipe": "there is a device, a pipe or a socket", "c": "there is a device, a pipe or a socket",
		"d": "there is a device, a pipe or a socket", "e": "file does not exist", "a/x": "file does not exist",
	} {
		object, opened := s.Open(t.Context(), key)
		if opened == nil {
			opened = object.Close()
		}
		_, described := s.Stat(t.Context(), key)
		for _, err := range []error{opened, described} {
			if want == "" && err != nil || want != "" && (!errors.Is(err, storage.ErrNotExist) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
}

func TestElsewhereIsReadUnderTheSameHook(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	if _, err := local.New(other).PutIfAbsent(t.Context(), "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	heard := ""
	s := storage.Wrap(local.New(root), func(op *storage.Op, call func() error) error {
		heard += op.Name + " " + op.Key + ";"
		return call()
	})
	r, err := storage.Elsewhere(s, other)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := r.Stat(t.Context(), "k"); err != nil || info.Size != 1 || heard != "stat k;" {
		t.Errorf("got %+v, %v, heard %q", info, err, heard)
	}
}
