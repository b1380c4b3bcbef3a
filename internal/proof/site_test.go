package proof

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// site is a folder with one pipeline.
type site struct {
	folder  string
	file    string // the pipeline's
	landing string // not there when the source is a topic
	table   string
}

const (
	pipelineName = "proof"
	fileSource   = "files: {path: landing, settle: 0s}"
	noteColumns  = `
  - {name: id, type: long, nullable: false}
  - {name: part, type: string}
  - {name: text, type: string}`
)

// newSite lays out a pipeline: source and columns are YAML, more are further keys of the file's top level.
func newSite(tb testing.TB, source, columns, tableKeys string, more ...string) *site {
	tb.Helper()
	s := &site{folder: tb.TempDir()}
	s.file = filepath.Join(s.folder, "pipeline.yaml")
	s.landing, s.table = filepath.Join(s.folder, "landing"), filepath.Join(s.folder, "lake", "notes")
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

func (s *site) checkpoint() string { return filepath.Join(s.table, "_sluice", pipelineName) }

func (s *site) plans(tb testing.TB) []string {
	tb.Helper()
	return names(tb, filepath.Join(s.checkpoint(), "offsets", "*"))
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
