package proof

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// site is a folder with one pipeline's file, and the places where that pipeline reads and writes.
type site struct {
	judge  *judge
	folder string
	file   string // the pipeline's
	places
	checkpoint string // where the pipeline's file says, or below the table
}

// places are local folders or, each independently, s3:// URLs.
type places struct {
	landing string
	table   string
}

const (
	pipelineName = "proof"
	fileSource   = "files: {path: landing, settle: 0s}" // of a local site
	noteColumns  = `
  - {name: id, type: long, nullable: false}
  - {name: part, type: string}
  - {name: text, type: string}`
)

// site lays out a pipeline in local folders: source and columns are YAML, more are further keys of the file's top level.
func (j *judge) site(tb testing.TB, source, columns, tableKeys string, more ...string) *site {
	tb.Helper()
	return j.siteAt(tb, places{}, source, columns, tableKeys, more...)
}

// siteAt is site with its places elsewhere; those that are empty are in the site's folder.
func (j *judge) siteAt(tb testing.TB, at places, source, columns, tableKeys string, more ...string) *site {
	tb.Helper()
	folder, err := os.MkdirTemp(j.folder, "site")
	if err != nil {
		tb.Fatal(err)
	}
	s := &site{judge: j, folder: folder, file: filepath.Join(folder, "pipeline.yaml"), places: at}
	if s.landing == "" {
		s.landing = filepath.Join(s.folder, "landing")
		if err := os.Mkdir(s.landing, 0o777); err != nil {
			tb.Fatal(err)
		}
	}
	if s.table == "" {
		s.table = filepath.Join(s.folder, "lake", "notes")
	}
	s.configure(tb, pipelineName, source, columns, tableKeys, more...)
	return s
}

// configure writes the pipeline's file.
func (s *site) configure(tb testing.TB, name, source, columns, tableKeys string, more ...string) {
	tb.Helper()
	s.checkpoint = s.table + "/_sluice/" + name
	for _, line := range more {
		if place, ok := strings.CutPrefix(line, "checkpoint: "); ok {
			s.checkpoint = s.resolve(place)
		}
	}
	if columns != "" {
		columns = "columns:" + columns
	}
	lines := append([]string{"name: " + name, "source:", "  " + source, columns, fmt.Sprintf("table: {path: %q%s}", s.table, tableKeys)}, more...)
	if err := os.WriteFile(s.file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		tb.Fatal(err)
	}
}

// resolve makes a place of the pipeline's file one of this process.
func (s *site) resolve(place string) string {
	if isRemote(place) || filepath.IsAbs(place) {
		return place
	}
	return filepath.Join(s.folder, place)
}

func (s *site) quarantine() string { return s.table + "_quarantine" }

func (s *site) plans(tb testing.TB) []string {
	tb.Helper()
	return names(tb, filepath.Join(s.judge.disk(s.checkpoint), "offsets", "*"))
}

// commits are the files of the table's log, oldest first.
func (s *site) commits(tb testing.TB) []string {
	tb.Helper()
	return names(tb, filepath.Join(s.judge.disk(s.table), "_delta_log", "*.json"))
}

func names(tb testing.TB, pattern string) []string {
	tb.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// start runs the pipeline until it is stopped.
func (s *site) start(tb testing.TB, args ...string) *process {
	tb.Helper()
	return start(tb, append([]string{"run", s.file, "--log-level", "debug", "--trigger", "continuous"}, args...)...)
}

// stop ends a run that start began, cleanly.
func (s *site) stop(tb testing.TB, p *process) {
	tb.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.wait(tb); code != 0 {
		tb.Fatalf("exit %d:\n%s", code, p.stderr.text())
	}
}

// finish runs the pipeline to the end of what is there.
func (s *site) finish(tb testing.TB, args ...string) *process {
	tb.Helper()
	return run(tb, 0, append([]string{"run", s.file, "--trigger", "available-now"}, args...)...)
}

// tree lists the files below a folder with their sizes, but for the record of the last error.
func tree(t *testing.T, folder string) map[string]int {
	t.Helper()
	files := map[string]int{}
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(filepath.Dir(name)) == "errors" {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files[name] = int(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
