package commitlog

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/storage/storagetest"
)

// onDisk writes the log into a folder.
func (d *daily) onDisk(t *testing.T) *logFolder {
	t.Helper()
	f := &logFolder{t, t.TempDir()}
	for key, body := range d.objects {
		name := filepath.Join(f.dir, key)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, body, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, d.modified[key], d.modified[key]); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// names are those of the files in the log, in order.
func (f *logFolder) names() (names []string) {
	f.t.Helper()
	err := filepath.WalkDir(f.path(""), func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, shortName(strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(f.dir)+"/")))
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func TestACleanupMayDieAnywhere(t *testing.T) {
	d := newDaily(lineProtocol, days3, 7, 2, 4)
	d.checkpoint(6, lineSidecar)
	d.commit(7, lineAdd("f7"))
	d.commit(8, lineAdd("f8"))
	d.checkpoint(8)
	for name, body := range map[string]string{
		"_sidecars/needed.parquet": cpBytes(t, cpFiles("f6")), "_sidecars/old.parquet": "x", "_commit_1.json.tmp": "x", "_last_checkpoint": `{"version":8,"size":20}`,
	} {
		d.file(name, 1, body)
	}
	run := func(l *Log) error {
		c, err := l.PlanCleanup(context.Background(), on(10))
		if err == nil {
			_, err = c.Run(context.Background(), nil)
		}
		return err
	}
	sample := d.onDisk(t)
	var want []*State
	for v := range int64(9) {
		want = append(want, sample.state(v))
	}
	whole := func(f *logFolder) {
		l := f.log()
		for v := 6; v < 9; v++ {
			if diff := sameState(t, want[v], f.state(int64(v))); diff != "" {
				t.Error(diff)
			}
		}
		last := int64(-1)
		err := l.Commits(context.Background(), 0, -1, func(c *Commit) error { last = c.Version; return nil })
		if err != nil || last != 8 {
			t.Errorf("commits up to %d are there, %v", last, err)
		}
		if err := l.Verify(context.Background(), func(fault LogFault) { t.Errorf("%+v", fault) }); err != nil {
			t.Error(err)
		}
	}
	crashes(t, append(storagetest.Modes, storagetest.Zombie), func() *logFolder { return d.onDisk(t) }, run, func(f *logFolder) {
		whole(f)
		if err := run(f.log()); err != nil {
			t.Error(err)
		}
		left := []string{"#06.checkpoint.x.json", "#06.json", "#07.json", "#08.checkpoint.x.json", "#08.json", "_last_checkpoint", "_sidecars/needed.parquet"}
		if diff := cmp.Diff(left, f.names()); diff != "" {
			t.Error(diff)
		}
	})
}
