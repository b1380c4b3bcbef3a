package proof

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a condition may take that is sure to come.
const patience = 5 * time.Minute

// process is one run of the program.
type process struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr transcript
	ended  chan struct{}
	err    error // of Wait; read after ended
}

// start runs the program with args. It is killed at the end of the test if it still runs then.
func start(tb testing.TB, args ...string) *process {
	tb.Helper()
	return launch(tb, binary(tb, "sluice"), args...)
}

func launch(tb testing.TB, name string, args ...string) *process {
	tb.Helper()
	return launchCommand(tb, exec.Command(name, args...))
}

func launchCommand(tb testing.TB, cmd *exec.Cmd) *process {
	tb.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.stderr.changed = make(chan struct{})
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// run runs the program to its end, which has to come with an exit code.
func run(tb testing.TB, want int, args ...string) *process {
	tb.Helper()
	p := start(tb, args...)
	if got := p.wait(tb); got != want {
		tb.Fatalf("sluice %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, want, p.stdout.String(), p.stderr.text())
	}
	return p
}

// wait returns the exit code, or minus the signal that ended the process.
func (p *process) wait(tb testing.TB) int {
	tb.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		tb.Fatalf("%v still runs after %v\n%s", p.cmd.Args, patience, p.stderr.text())
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		tb.Fatal(p.err)
	}
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return -int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// signal sends a signal to a process that may have ended.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// stop stops a process that may have ended (SIGSTOP). It returns when none of its threads goes on: on a busy machine that is some time
// after the signal, and a SIGCONT before it would take the signal back.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	p.signal(syscall.SIGSTOP)
	if err := awaitStop(p.cmd.Process.Pid); err != nil {
		tb.Fatalf("wait until %v has stopped: %v", p.cmd.Args, err)
	}
}

// await waits until the log holds a text at least n times. It tells whether that came before the process ended and
// within the time given.
func (p *process) await(text string, n int, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		count, changed := p.stderr.count(text)
		if count >= n {
			return true
		}
		select {
		case <-changed:
		case <-p.ended:
			count, _ := p.stderr.count(text)
			return count >= n
		case <-ctx.Done():
			return false
		}
	}
}

// must is await for what has to come.
func (p *process) must(tb testing.TB, text string, n int) {
	tb.Helper()
	if !p.await(text, n, patience) {
		tb.Fatalf("%v has not said %q %d times:\n%s", p.cmd.Args, text, n, p.stderr.text())
	}
}

// peakBytes is the most memory that the ended process had.
func (p *process) peakBytes() int64 {
	return maxrssBytes(p.cmd.ProcessState.SysUsage().(*syscall.Rusage))
}

// cpu is the processor time of the ended process.
func (p *process) cpu() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// transcript is what a process has said so far. Safe for concurrent use.
type transcript struct {
	mu      sync.Mutex
	said    bytes.Buffer
	changed chan struct{} // closed at the next write
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.changed)
	t.changed = make(chan struct{})
	return t.said.Write(b)
}

func (t *transcript) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.said.String()
}

func (t *transcript) count(text string) (int, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Count(t.said.Bytes(), []byte(text)), t.changed
}
