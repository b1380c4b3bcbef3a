package kafkatest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluicedata/sluice/internal/checkout"
)

func script(t *testing.T) string {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "testdata", "kafka", "kafka.sh")
}

// The broker of a test process that dies is ended by its guard, and its data removed.
func TestGuardEndsTheBrokerWhenItsInputEnds(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	broker := exec.Command("sleep", "600")
	if err := broker.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- broker.Wait() }()
	pid := fmt.Appendln(nil, broker.Process.Pid)
	if err := os.WriteFile(filepath.Join(data, "kafka.pid"), pid, 0o600); err != nil {
		t.Fatal(err)
	}
	guard := exec.Command(script(t), "guard", data)
	input, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the broker ended before its test process: %v", err)
	default:
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.String() != "signal: killed" {
		t.Errorf("the broker ended with %v", err)
	}
	if err := guard.Wait(); err != nil {
		t.Errorf("guard: %v", err)
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data is still there: %v", err)
	}
}

func TestUnknownCommandPrintsTheUsage(t *testing.T) {
	out, err := exec.Command(script(t), "stat").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(out) == 0 {
		t.Errorf("exit %v, output %q", err, out)
	}
}

func TestKilledBrokerKeepsItsRecords(t *testing.T) {
	n := Broker(t)
	topic := n.Topic(t, 1)
	n.Produce(t, topic, 0, Records("v", 10)...)
	n.Restart(t)
	if start, stable, high := n.Bounds(t, topic, 0); start != 0 || stable != 10 || high != 10 {
		t.Errorf("bounds %d, %d, %d after a kill, want 0, 10, 10", start, stable, high)
	}
	n.Produce(t, topic, 0, Record("after"))
}
