// Package interop lets tests ask others what is in a table or in its source.
//
// It owns the way to the foreign Delta readers (delta-rs, DuckDB, ClickHouse, Polars and Spark, in a Python virtual environment
// that it installs) and to an independent reading of JSON sources. Both answer with the order-free row hash of package rowhash, so that a test
// compares row for row what Sluice wrote with what others see: Check and CheckBy for tables at each of their versions, Source for
// files. A Writer has one of them change a table. The Python side is testdata/readers.
//
// Invariants:
//
//   - No answer passes through code of Sluice, but for the hash of the records that a test hands in itself.
//   - A reader answers one test after the other, and takes nothing that it has read before for what there is now.
//   - Where the readers cannot be had a test is skipped and says why; under CI=true it fails.
package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Venv is an installed set of foreign readers. Safe for concurrent use.
type Venv struct {
	python  string // interpreter
	scripts string // folder of testdata/readers
}

// exitUnsuitable is install.sh's status for a machine without a suitable Python or, for Spark, Java.
const exitUnsuitable = 3

// Readers installs delta-rs and DuckDB, which takes no time when they are there, and larger ones (chdb, polars, spark) with
// them. It skips the test where that is impossible, and fails it there when CI is true in the environment.
func Readers(tb testing.TB, larger ...string) *Venv {
	tb.Helper()
	scripts := filepath.Join(Root(tb), "testdata", "readers")
	python, err := install(tb.Context(), scripts, larger)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
	return &Venv{python: python, scripts: scripts}
}

func install(ctx context.Context, scripts string, larger []string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(scripts, "install.sh"), larger...)
	var out, progress bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &progress
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == exitUnsuitable:
		return "", fmt.Errorf("not on this machine: %s", tail(progress.String()))
	case err != nil:
		return "", fmt.Errorf("install the foreign readers: %w: %s", err, tail(progress.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// run runs one of the scripts and returns what it printed.
func (v *Venv) run(ctx context.Context, stdin []byte, script string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, v.python, append([]string{filepath.Join(v.scripts, script)}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = bytes.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run %s: %w: %s", script, err, tail(complaint.String()))
	}
	return out.Bytes(), nil
}

// tail is the end of a program's complaint, where the reason stands.
func tail(s string) string {
	const most = 2000
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}
