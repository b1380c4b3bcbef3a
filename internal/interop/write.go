package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Writer is another engine that changes a table. Not safe for concurrent use.
type Writer struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	answers   *json.Decoder
	complaint bytes.Buffer
}

// Writer starts an engine (deltalake; spark where installed) for a table, a folder or a URL that the engine reads. It ends
// with the test.
func (v *Venv) Writer(tb testing.TB, engine, table string) *Writer {
	tb.Helper()
	cmd := exec.Command(v.python, filepath.Join(v.scripts, "change_table.py"), engine, table)
	w := &Writer{cmd: cmd}
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = &w.complaint
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		w.answers = json.NewDecoder(stdout)
		w.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = w.stdin.Close()
		_ = cmd.Wait() // what matters has been answered
	})
	return w
}

// Change makes one of the changes that change_table.py knows. An error is the engine's reason not to have made it.
func (w *Writer) Change(change string) (Changed, error) {
	var answer struct {
		Changed
		Error string
	}
	_, err := fmt.Fprintln(w.stdin, change)
	if err == nil {
		err = w.answers.Decode(&answer)
	}
	switch {
	case err != nil:
		_ = w.stdin.Close()
		_ = w.cmd.Wait() // for its last words
		return Changed{}, fmt.Errorf("%s: %w: %s", change, err, tail(w.complaint.String()))
	case answer.Error != "":
		return Changed{}, fmt.Errorf("%s: %w", change, errors.New(answer.Error))
	}
	return answer.Changed, nil
}

// Changed is what has come of a change.
type Changed struct {
	Version int64            // the table's newest after it
	Rows    map[int64]string // by their ids, the texts that the table must have in rows of the engine; where the change was "rows"
}
