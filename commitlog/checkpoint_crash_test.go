package commitlog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// checkLog says what is wrong with a log for any reader: a _last_checkpoint that names nothing, a log checkpoint that says other
// things than the commits did.
func checkLog(t *testing.T, f *logFolder, want *State) {
	t.Helper()
	if diff := sameState(t, want, f.state(want.Version)); diff != "" {
		t.Error(diff)
	}
	whole, _ := filepath.Glob(f.path("*.checkpoint*"))
	for _, name := range whole {
		e, err := f.log().list(context.Background(), 0)
		if err != nil || len(e.checkpoints) != len(whole) {
			t.Errorf("%d log checkpoints are whole, of %d: %v", len(e.checkpoints), len(whole), err)
		}
		info, err := os.Stat(name)
		if err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	body, err := os.ReadFile(f.path("_last_checkpoint"))
	if err != nil {
		return // none is fine
	}
	var last lastCheckpoint
	if err := json.Unmarshal(body, &last); err != nil {
		t.Errorf("_last_checkpoint is %q", body)
	}
	if named, _ := filepath.Glob(f.path(fmt.Sprintf("%020d.checkpoint*", last.Version))); len(named) == 0 {
		t.Errorf("_last_checkpoint names %d, and there are %v", last.Version, whole)
	}
}

// crashes runs a maintenance of a log whose process dies, or is lied to, at each of its operations in each of the ways, and lets check
// look at what it leaves.
func crashes(t *testing.T, modes []storagetest.Mode, begin func() *logFolder, run func(*Log) error, check func(*logFolder)) {
	t.Helper()
	for _, mode := range modes {
		for at := 0; ; at++ {
			f := begin()
			store := local.New(f.dir)
			crash := &storagetest.Crash{At: at, Mode: mode, Delay: 3}
			l := New(crash.Wrap(store))
			l.now = everyNow
			err := run(l)
			if mode.Lives() && err != nil && !strings.Contains(err.Error(), storagetest.ErrLost.Error()) {
				t.Errorf("%s: %v", crash.Op, err)
			}
			_ = store.Close()
			crash.Deliver()
			check(f)
			if t.Failed() {
				t.Fatalf("at operation %d: %s", at, crash.Op)
			}
			if !crash.Happened() {
				break
			}
		}
	}
}

func everyNow() time.Time { return time.UnixMilli(1000).Add(deletedFileRetention) }

// copied is a table of its own with the same log.
func (f *logFolder) copied() *logFolder {
	f.t.Helper()
	c := &logFolder{f.t, f.t.TempDir()}
	if err := os.CopyFS(c.dir, os.DirFS(f.dir)); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// checkpointOfOne puts a log checkpoint of version 1 in JSON, which has the lines of the two commits.
func (f *logFolder) checkpointOfOne() {
	f.t.Helper()
	var lines []byte
	for v := range 2 {
		body, err := os.ReadFile(f.path(fmt.Sprintf("%020d.json", v)))
		if err != nil {
			f.t.Fatal(err)
		}
		lines = append(append(lines, body...), '\n')
	}
	for name, body := range map[string]string{fmt.Sprintf("%020d.checkpoint.x.json", 1): string(lines), "_last_checkpoint": `{"version":1,"size":9}`} {
		if err := os.WriteFile(f.path(name), []byte(body), 0o666); err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestALogCheckpointMayDieAnywhere(t *testing.T) {
	for name, tt := range map[string]struct {
		properties string
		modes      []storagetest.Mode
	}{
		"classic": {"", append(storagetest.Modes, storagetest.Zombie)},
		"V2":      {`"delta.checkpointPolicy":"v2",`, []storagetest.Mode{storagetest.After, storagetest.Torn}},
	} {
		t.Run(name, func(t *testing.T) {
			sample := everyTable(t, modernProtocol, tt.properties)
			want := sample.state(2)
			sample.checkpointOfOne()
			write := func(l *Log) error {
				_, err := l.Checkpoint(context.Background())
				return err
			}
			crashes(t, tt.modes, sample.copied, write, func(f *logFolder) {
				checkLog(t, f, want)
				store := local.New(f.dir)
				defer store.Close()
				if _, err := store.Sweep(context.Background(), func(key string) (bool, error) { return InLog(key), nil }); err != nil {
					t.Error(err)
				}
				l := New(store)
				l.now = everyNow
				if err := write(l); err != nil {
					t.Error(err)
				}
				f.removeCommits(2)
				checkLog(t, f, want)
			})
		})
	}
}
