package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/interop"
)

// quickstartMark is the line of the README in front of the commands that TestQuickstart runs.
const quickstartMark = "<!-- quickstart -->"

// TestQuickstart runs the commands of the README's quickstart as they stand there, and wants what it shows of their output.
func TestQuickstart(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(interop.Root(t), "README.md"))
	if err != nil {
		t.Skipf("no README yet: %v", err)
	}
	_, text, marked := strings.Cut(string(readme), quickstartMark)
	if !marked {
		t.Skipf("the README has no line %s", quickstartMark)
	}
	commands, text := fenced(t, text)
	want, _ := fenced(t, text)
	folder := t.TempDir()
	shell := exec.Command("sh", "-eu", "-c", commands)
	shell.Dir = folder
	shell.Env = append(os.Environ(), "TMPDIR="+folder) // which mktemp obeys
	var stdout, stderr strings.Builder
	shell.Stdout, shell.Stderr = &stdout, &stderr
	if err := shell.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	if diff := cmp.Diff(want, strings.TrimSuffix(stdout.String(), "\n")); diff != "" {
		t.Errorf("the README shows another output:\n%s", diff)
	}
	checkForeign(t, folder)
}

// fenced is the first fenced block of a Markdown text, and the text behind it.
func fenced(t *testing.T, text string) (block, behind string) {
	t.Helper()
	_, text, opened := strings.Cut(text, "\n```")
	_, text, _ = strings.Cut(text, "\n") // the word for the language
	block, behind, closed := strings.Cut(text, "\n```")
	if !opened || !closed {
		t.Fatal("the README has no block of commands and one of their output after " + quickstartMark)
	}
	return block, behind
}
