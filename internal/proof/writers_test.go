package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestEightPipelinesWriteOneTableAtOnce(t *testing.T) {
	const writers = 8
	commits := either(t, 25, 200)
	j := newJudge(t)
	j.startS3(t)
	for _, table := range []string{"local", "s3"} {
		t.Run(table, func(t *testing.T) {
			at := places{}
			if table == "s3" {
				at.table = j.s3.place("notes")
			}
			f := j.filePerBatch(t, at)
			sites := []*site{f.site}
			for i := range writers - 1 {
				sites = append(sites, f.neighbour(t, fmt.Sprint("writer-", i)))
			}
			for range commits {
				for _, s := range sites {
					must(t, func() error { return f.land(s.landing, 10) })
				}
			}
			var running []*process
			for _, s := range sites {
				running = append(running, start(t, "run", s.file, "--trigger", "available-now"))
			}
			for _, p := range running {
				if code := p.wait(t); code != 0 {
					t.Errorf("exit %d:\n%s", code, p.stderr.text())
				}
			}
			for _, s := range sites {
				s.checkAudit(t, f.notes/writers)
			}
			f.checkNotes(t, f.producer)
			f.checkDisk(t)
			if n := newest(t, f.table) + 1; n != int64(writers*commits) {
				t.Errorf("%d versions, want %d: one a commit", n, writers*commits)
			}
		})
	}
	j.judge(t)
}

// neighbour is another pipeline that writes to the site's table, from a landing folder of its own.
func (s *site) neighbour(t *testing.T, name string) *site {
	t.Helper()
	other := *s
	other.file, other.landing = filepath.Join(s.folder, name+".yaml"), filepath.Join(s.folder, name)
	must(t, func() error { return os.Mkdir(other.landing, 0o777) })
	other.configure(t, name, filesIn(other.landing), noteColumns, "", "batch: {max_files: 1}")
	return &other
}
