package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCopyOfATableSharesItsDataAndNotItsLog(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "table")
	for _, name := range []string{"day=1/a.parquet", "_delta_log/0.json", "_delta_log/0.checkpoint.parquet"} {
		path := filepath.Join(from, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(name), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyTable(from, to); err != nil {
		t.Fatal(err)
	}
	for name, shared := range map[string]bool{"day=1/a.parquet": true, "_delta_log/0.json": false, "_delta_log/0.checkpoint.parquet": true} {
		a, err1 := os.Stat(filepath.Join(from, name))
		b, err2 := os.Stat(filepath.Join(to, name))
		if err := errors.Join(err1, err2); err != nil || os.SameFile(a, b) != shared {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInputThatWasNotFinishedIsMadeAgain(t *testing.T) {
	b := &bench{settings: settings{work: t.TempDir()}}
	interrupted := errors.New("interrupted")
	made := 0
	write := func(folder string) error {
		made++
		return os.WriteFile(filepath.Join(folder, "a"), nil, 0o666)
	}
	if _, err := b.once("in", func(folder string) error { return errors.Join(write(folder), interrupted) }); !errors.Is(err, interrupted) {
		t.Fatal(err)
	}
	for range 2 {
		folder, err := b.once("in", write)
		if _, missing := os.Stat(filepath.Join(folder, "a")); err != nil || missing != nil {
			t.Fatal(err, missing)
		}
	}
	if made != 2 {
		t.Errorf("made %d times", made)
	}
}

func TestCompactionThatFailsIsToldAndOneThatIsStoppedIsNot(t *testing.T) {
	b := &bench{settings: settings{program: "/bin/false"}}
	if err := b.compactUntil(t.Context(), b.compact("t")); err == nil {
		t.Error("a failure is not told")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := b.compactUntil(stopped, b.compact("t")); err != nil {
		t.Error(err)
	}
}
