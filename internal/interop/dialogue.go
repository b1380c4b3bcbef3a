package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// dialogue is a script that answers each line of its input with one of JSON. Not safe for concurrent use.
type dialogue struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	answers   *json.Decoder
	complaint bytes.Buffer
}

// begin starts a script. It ends with its input: when end closes that, or with this process.
func (v *Venv) begin(script string, args ...string) (*dialogue, error) {
	cmd := exec.Command(v.python, append([]string{filepath.Join(v.scripts, script)}, args...)...)
	d := &dialogue{cmd: cmd}
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = &d.complaint
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		d.answers = json.NewDecoder(stdout)
		d.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", script, err)
	}
	return d, nil
}

// beginFor starts a script that ends with a test.
func (v *Venv) beginFor(tb testing.TB, script string, args ...string) *dialogue {
	tb.Helper()
	d, err := v.begin(script, args...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.end)
	return d
}

// ask says a line and decodes the answer. After an error the script has ended; its last words are in the error.
func (d *dialogue) ask(line string, answer any) error {
	_, err := fmt.Fprintln(d.stdin, line)
	if err == nil {
		err = d.answers.Decode(answer)
	}
	if err != nil {
		_ = d.cmd.Process.Kill() // it may have said something else than an answer, and go on
		d.end()
		return fmt.Errorf("%w: %s", err, tail(d.complaint.String()))
	}
	return nil
}

func (d *dialogue) end() {
	_ = d.stdin.Close()
	_ = d.cmd.Wait() // what matters has been answered
}

// idle are the dialogues with readers that nobody has at the moment, by engines. To start one takes longer than most of its answers, so
// that the tests of a binary share a few.
var idle = struct {
	sync.Mutex
	readers map[reader][]*dialogue
}{readers: map[reader][]*dialogue{}}

// reader is an engine of an installation.
type reader struct{ python, engine string }

// withReader has talk with a reader. One that is asked about a URL is a new one: it finds the endpoint in its environment, as it is now.
func (v *Venv) withReader(ctx context.Context, engine string, remote bool, talk func(*dialogue) error) error {
	key := reader{v.python, engine}
	d := takeIdle(key, remote)
	if d == nil {
		var err error
		if d, err = v.begin("read_table.py", engine, "--list", "-"); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = d.cmd.Process.Kill() })
	err := talk(d)
	if alive := stop(); err != nil || remote || !alive {
		d.end()
		return err
	}
	idle.Lock()
	defer idle.Unlock()
	idle.readers[key] = append(idle.readers[key], d)
	return nil
}

func takeIdle(key reader, remote bool) *dialogue {
	idle.Lock()
	defer idle.Unlock()
	waiting := idle.readers[key]
	if remote || len(waiting) == 0 {
		return nil
	}
	idle.readers[key] = waiting[:len(waiting)-1]
	return waiting[len(waiting)-1]
}
