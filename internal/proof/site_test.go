package proof

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// site is a folder with one pipeline.
type site struct {
	judge   *judge
	folder  string
	file    string // the pipeline's
	landing string // empty when the source is a topic
	table   string
	// checkpoint is where it is without a key in the pipeline's file, or in the folder "checkpoint" with one.
	checkpoint string
}

const (
	pipelineName = "proof"
	fileSource   = "files: {path: landing, settle: 0s}"
	noteColumns  = `
  - {name: id, type: long, nullable: false}
  - {name: part, type: string}
  - {name: text, type: string}`
)

// site lays out a pipeline: source and columns are YAML, more are further keys of the file's top level.
func (j *judge) site(tb testing.TB, source, columns, tableKeys string, more ...string) *site {
	tb.Helper()
	folder, err := os.MkdirTemp(j.folder, "site")
	if err != nil {
		tb.Fatal(err)
	}
	s := &site{judge: j, folder: folder}
	s.file = filepath.Join(s.folder, "pipeline.yaml")
	s.landing, s.table = filepath.Join(s.folder, "landing"), filepath.Join(s.folder, "lake", "notes")
	s.checkpoint = filepath.Join(s.table, "_sluice", pipelineName)
	if slices.Contains(more, "checkpoint: checkpoint") {
		s.checkpoint = filepath.Join(s.folder, "checkpoint")
	}
	if err := os.Mkdir(s.landing, 0o777); err != nil {
		tb.Fatal(err)
	}
	s.configure(tb, pipelineName, source, columns, tableKeys, more...)
	return s
}

func (s *site) configure(tb testing.TB, name, source, columns, tableKeys string, more ...string) {
	tb.Helper()
	if columns != "" {
		columns = "columns:" + columns
	}
	lines := append([]string{"name: " + name, "source:", "  " + source, columns, "table: {path: lake/notes" + tableKeys + "}"}, more...)
	if err := os.WriteFile(s.file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		tb.Fatal(err)
	}
}

func (s *site) quarantine() string { return s.table + "_quarantine" }

func (s *site) plans(tb testing.TB) []string {
	tb.Helper()
	return names(tb, filepath.Join(s.checkpoint, "offsets", "*"))
}

// commits are the files of the table's log, oldest first.
func (s *site) commits(tb testing.TB) []string {
	tb.Helper()
	return names(tb, filepath.Join(s.table, "_delta_log", "*.json"))
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
