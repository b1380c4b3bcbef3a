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

// Writer is another engine, delta-rs, that changes a table. Not safe for concurrent use.
type Writer struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	answers   *json.Decoder
	complaint bytes.Buffer
}

// Writer starts an engine for a table, a folder or a URL. It ends with the test.
func (v *Venv) Writer(tb testing.TB, table string) *Writer {
	tb.Helper()
	cmd := exec.Command(v.python, filepath.Join(v.scripts, "change_table.py"), table)
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

// Change makes one of the changes that change_table.py knows, and returns the table's newest version after it. An error is
// the engine's reason not to have made it.
func (w *Writer) Change(change string) (version int64, err error) {
	var answer struct {
		Version int64
		Error   string
	}
	_, err = fmt.Fprintln(w.stdin, change)
	if err == nil {
		err = w.answers.Decode(&answer)
	}
	switch {
	case err != nil:
		_ = w.stdin.Close()
		_ = w.cmd.Wait() // for its last words
		return 0, fmt.Errorf("%s: %w: %s", change, err, tail(w.complaint.String()))
	case answer.Error != "":
		return 0, fmt.Errorf("%s: %w", change, errors.New(answer.Error))
	}
	return answer.Version, nil
}
