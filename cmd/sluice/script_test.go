package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sluice": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the scripts in testdata/script, then shows every table that they left to foreign readers.
func TestScripts(t *testing.T) {
	root := t.TempDir()
	if !t.Run("script", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir: "testdata/script", WorkdirRoot: root, RequireUniqueNames: true,
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"exits": scriptExits, "json": scriptJSON, "compress": scriptCompress, "replace": scriptReplace, "age": scriptAge,
			},
		})
	}) {
		return
	}
	t.Run("foreign readers", func(t *testing.T) { checkForeign(t, root) })
}

// scriptExits runs a command and wants its exit code: exits CODE COMMAND [ARG…]
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// scriptAge makes the files of a folder older than they are: age FOLDER DURATION
func scriptAge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: age FOLDER DURATION")
	}
	by, err := time.ParseDuration(args[1])
	ts.Check(err)
	folder := ts.MkAbs(args[0])
	entries, err := os.ReadDir(folder)
	ts.Check(err)
	for _, e := range entries {
		info, err := e.Info()
		ts.Check(err)
		then := info.ModTime().Add(-by)
		ts.Check(os.Chtimes(filepath.Join(folder, e.Name()), then, then))
	}
}

// scriptJSON looks into the one JSON document on stdout: json PATH VALUE. A path has names and indices with slashes
// between; len is the length of an array or an object. Values that are no strings are compared as JSON.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] json PATH VALUE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var document any
	ts.Check(d.Decode(&document))
	if d.More() {
		ts.Fatalf("stdout holds more than one JSON document")
	}
	got, err := lookUp(document, args[0])
	ts.Check(err)
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

func lookUp(value any, path string) (string, error) {
	for _, step := range strings.Split(path, "/") {
		var there bool
		switch v := value.(type) {
		case map[string]any:
			if value, there = v[step]; !there && step == "len" {
				value, there = len(v), true
			}
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				value, there = v[i], true
			} else if step == "len" {
				value, there = len(v), true
			}
		}
		if !there {
			return "", fmt.Errorf("%s: there is no %s", path, step)
		}
	}
	if text, is := value.(string); is {
		return text, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// scriptCompress replaces files by FILE.gz or FILE.zst: compress gz|zst FILE…
func scriptCompress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: compress gz|zst FILE…")
	}
	for _, name := range args[1:] {
		f, err := os.Create(ts.MkAbs(name) + "." + args[0])
		ts.Check(err)
		switch args[0] {
		case "gz":
			w := gzip.NewWriter(f)
			_, err = w.Write([]byte(ts.ReadFile(name)))
			ts.Check(errors.Join(err, w.Close()))
		case "zst":
			w, err := zstd.NewWriter(f)
			ts.Check(err)
			_, err = w.Write([]byte(ts.ReadFile(name)))
			ts.Check(errors.Join(err, w.Close()))
		default:
			ts.Fatalf("compress %s: gz or zst", args[0])
		}
		ts.Check(errors.Join(f.Close(), os.Remove(ts.MkAbs(name))))
	}
}

// scriptReplace replaces a text in a file: replace FILE OLD NEW
func scriptReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o666))
}

// tablesBelow are the folders with a Delta log. Scripts that damage a table keep it below a folder "damaged".
func tablesBelow(t *testing.T, root string) (tables []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "damaged" || e.Name() == "_staging"):
			return filepath.SkipDir
		case e.IsDir() && e.Name() == "_delta_log":
			tables = append(tables, filepath.Dir(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
