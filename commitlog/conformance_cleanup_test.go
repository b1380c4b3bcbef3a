package commitlog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTablesThatOthersWroteAreTheSameBehindALogCheckpointAndACleanup writes a log checkpoint into a copy of each log that others
// wrote, has all before it expire, and compares the tables. It takes each fifth of them, and all with SLUICE_CHAOS.
func TestTablesThatOthersWroteAreTheSameBehindALogCheckpointAndACleanup(t *testing.T) {
	dir := conformanceDir(t)
	every := 5
	if os.Getenv("SLUICE_CHAOS") != "" {
		every = 1
	}
	seen, same, cleaned, refused := 0, 0, 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "_delta_log" {
			return err
		}
		name, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		seen++
		if seen%every != 0 || name == "dat-v0.0.3/no_stats/delta" { // whose properties keep statistics out of log checkpoints
			return fs.SkipDir
		}
		want, err := New(dirStore{dir: filepath.Dir(path)}).Files(context.Background(), -1)
		if err != nil {
			return fs.SkipDir // TestTablesThatOthersWrote knows which these are
		}
		f := newLogFolder(t)
		if err := os.CopyFS(f.path(""), os.DirFS(path)); err != nil {
			return err
		}
		from, err := f.checkpointAndCleanUp(time.Now().AddDate(100, 0, 0))
		var unsupported *UnsupportedError
		if errors.As(err, &unsupported) {
			refused++
			return fs.SkipDir
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return fs.SkipDir
		}
		got, err := f.log().Files(context.Background(), -1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return fs.SkipDir
		}
		if diff := sameState(t, want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		same++
		if from == want.Version {
			cleaned++
		}
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tables are the same, %d of them by the log checkpoint alone; %d are beyond what is supported", same, cleaned, refused)
	if cleaned < 150/every {
		t.Errorf("only %d logs were cleaned up to their end, of %d", cleaned, same)
	}
}

// checkpointAndCleanUp returns the version from which on the log stays.
func (f *logFolder) checkpointAndCleanUp(now time.Time) (from int64, err error) {
	l := f.log()
	if _, err := l.Checkpoint(context.Background()); err != nil {
		return -1, err
	}
	c, err := l.PlanCleanup(context.Background(), CleanupOptions{Now: now})
	if err != nil {
		return -1, err
	}
	_, err = c.Run(context.Background(), nil)
	return c.From, err
}
