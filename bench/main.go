package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/sluicedata/sluice/internal/checkout"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are the command line's.
type settings struct {
	program string // the program that is measured
	records int64  // of the largest input; other rows take a part of it
	rounds  int
	only    *regexp.Regexp // the rows to measure, by name
	work    string         // folder on a disk, for inputs and for what is written to a disk
	output  string         // "text" or "json"
	profile string         // file for the profile of a run, which is then all that is done; "" for none
	into    string         // document whose results of the same rows are replaced; "" for none
}

func parse(args []string) (settings, error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	var s settings
	var rows string
	fs.StringVar(&s.program, "sluice", "bin/sluice", "the program to measure")
	fs.Int64Var(&s.records, "records", 3_000_000, "records of the largest input")
	fs.IntVar(&s.rounds, "rounds", 5, "rounds")
	fs.StringVar(&rows, "rows", "", "regular expression: measure only rows with such a name")
	fs.StringVar(&s.work, "work", ".cache/bench", "folder on a disk for inputs, which stay, and outputs, which do not")
	fs.StringVar(&s.output, "o", "text", "text or json")
	fs.StringVar(&s.into, "into", "", "Markdown document to write the results into, between <!-- bench --> and <!-- /bench -->")
	fs.StringVar(&s.profile, "profile", "", "instead of measuring, write a profile of one run to this file")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	var err error
	switch s.only, err = regexp.Compile(rows); {
	case err != nil:
		return s, fmt.Errorf("--rows: %w", err)
	case s.output != "text" && s.output != "json":
		return s, fmt.Errorf("-o %s: write text or json", s.output)
	case s.records < 1000 || s.rounds < 1:
		return s, fmt.Errorf("--records %d --rounds %d: at least 1000 records and one round", s.records, s.rounds)
	case fs.NArg() > 0:
		return s, fmt.Errorf("%s: there are only flags; see --help", fs.Arg(0))
	}
	return s, nil
}

func run(ctx context.Context, args []string) (err error) {
	s, err := parse(args)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if s.profile != "" {
		return b.writeProfile(ctx)
	}
	r := report{Command: "make bench " + s.overrides(), Machine: thisMachine(b.program), Records: s.records, Rounds: s.rounds}
	failed := b.measureAll(ctx, &r)
	r.Machine.LoadAfter = load()
	if s.into != "" {
		failed = errors.Join(failed, r.document().into(s.into, b.names())) // what was measured before a row failed, too
	}
	return errors.Join(failed, r.write(os.Stdout, s.output))
}

// measureAll adds the rows to the report, up to one that fails.
func (b *bench) measureAll(ctx context.Context, r *report) error {
	for _, row := range b.rows() {
		if !b.only.MatchString(row.name) {
			continue
		}
		result, err := b.measure(ctx, row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		r.Rows = append(r.Rows, result)
	}
	return nil
}

// names are those of all rows, in their order.
func (b *bench) names() []string {
	var out []string
	for _, row := range b.rows() {
		out = append(out, row.name)
	}
	return out
}

// overrides is how the same run is asked for again.
func (s settings) overrides() string {
	out := fmt.Sprintf("RECORDS=%d ROUNDS=%d", s.records, s.rounds)
	if rows := s.only.String(); rows != "" {
		out += fmt.Sprintf(" ROWS='%s'", rows)
	}
	return out
}

// bench is where the runs find what they need.
type bench struct {
	settings
	root   string  // of the repository
	python string  // with delta-rs and DuckDB
	memory string  // folder in memory
	broker *broker // nil until a row asks for it
}

func newBench(ctx context.Context, s settings) (*bench, error) {
	root, err := checkout.Root()
	if err != nil {
		return nil, err
	}
	b := &bench{settings: s, root: root}
	if b.program, err = filepath.Abs(s.program); err != nil {
		return nil, err
	}
	if _, err := os.Stat(b.program); err != nil {
		return nil, fmt.Errorf("the program to measure: %w; run make build", err)
	}
	if b.work, err = filepath.Abs(s.work); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.work, 0o777); err != nil {
		return nil, err
	}
	install := exec.CommandContext(ctx, b.installer())
	install.Stderr = os.Stderr
	python, err := install.Output()
	if err != nil {
		return nil, fmt.Errorf("install DuckDB and delta-rs: %w", err)
	}
	b.python = strings.TrimSpace(string(python))
	b.memory, err = os.MkdirTemp("/dev/shm", "sluice-bench-")
	return b, err
}

func (b *bench) close() error {
	err := os.RemoveAll(b.memory)
	if b.broker != nil {
		err = errors.Join(err, b.broker.stop())
	}
	return err
}

// installer is the program that installs DuckDB, delta-rs and the readers that rows need besides.
func (b *bench) installer() string { return filepath.Join(b.root, "testdata", "readers", "install.sh") }

// script is the command line of a peer that is written in Python.
func (b *bench) script(name string, args ...string) []string {
	return append([]string{b.python, filepath.Join(b.root, "bench", "peers", name)}, args...)
}
