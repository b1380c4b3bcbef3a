package local_test

import (
	"os"
	"path/filepath"
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
