package kafkatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/checkout"
)

// Node is a real broker. Listeners: plain text at Addrs, TLS with SASL at Secure, and plain text behind a proxy of the
// test's own: one that listens at Via and passes on to Behind.
type Node struct {
	*Cluster
	Secure string // host:port of the TLS listener
	Via    string // host:port by which the broker tells clients to come through the proxy
	Behind string // host:port of the listener behind it
	CAFile string // PEM, signs the TLS listener's certificate

	script string
	dir    string // of the installation
	data   string
	port   int
	props  string
	extra  string   // further settings, a line each
	alive  *os.File // closing it, or the end of the process, makes the guard stop the broker
}

// shared is the broker of this process. Go tests have no end at which to stop it, so the guard does.
var shared struct {
	once sync.Once
	node *Node
	skip string
	err  error
}

// Broker gives the real broker, which it installs and starts when it is first asked for. The test is skipped where java or
// mvn is missing, or Kafka cannot be installed; with CI=true, the latter fails it.
func Broker(tb testing.TB) *Node {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a real broker is not started with -short")
	}
	shared.once.Do(func() { shared.node, shared.skip, shared.err = launch("") })
	need(tb, shared.skip, shared.err)
	return shared.node
}

// OwnBroker is Broker for a test that stops or kills it while others go on: it is the test's alone, and ends with it. extra
// are lines of settings that differ from those of the shared one.
func OwnBroker(tb testing.TB, extra ...string) *Node {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a real broker is not started with -short")
	}
	node, skip, err := launch(strings.Join(extra, "\n"))
	need(tb, skip, err)
	tb.Cleanup(func() { _ = node.alive.Close() })
	return node
}

// need skips the test where there can be no broker, and fails it where one should be.
func need(tb testing.TB, skip string, err error) {
	tb.Helper()
	var failed *installError
	switch {
	case skip != "":
		tb.Skip(skip)
	case errors.As(err, &failed) && os.Getenv("CI") != "true":
		tb.Skip(failed)
	case err != nil:
		tb.Fatal(err)
	}
}

// installError says that Kafka could not be fetched, though its tools are here.
type installError struct {
	dir    string
	output []byte
	cause  error
}

func (e *installError) Error() string {
	return fmt.Sprintf("install Kafka into %s: %v\n%s", e.dir, e.cause, e.output)
}

// launch installs and starts the broker; skip says why this machine cannot have one.
func launch(extra string) (node *Node, skip string, err error) {
	root, err := checkout.Root()
	if err != nil {
		return nil, "", err
	}
	n := &Node{
		script: filepath.Join(root, "testdata", "kafka", "kafka.sh"),
		dir:    filepath.Join(root, ".cache", "kafka"),
		extra:  extra,
	}
	if _, err := exec.LookPath("java"); err != nil {
		return nil, "the real broker needs java 17 or newer, which is not installed", nil
	}
	if out, err := exec.Command(n.script, "install", n.dir).CombinedOutput(); err != nil {
		if _, missing := exec.LookPath("mvn"); missing != nil {
			return nil, "the real broker needs mvn to fetch Kafka, which is not installed", nil
		}
		return nil, "", &installError{dir: n.dir, output: out, cause: err}
	}
	if n.data, err = os.MkdirTemp("", "sluice-kafka-"); err != nil {
		return nil, "", err
	}
	if err := n.guard(); err != nil {
		return nil, "", err
	}
	if n.CAFile, err = certify(n.data); err != nil {
		return nil, "", err
	}
	for try := 0; ; try++ {
		n.listen(checkout.FreePorts(5))
		err := n.run("start", n.dir, n.data, fmt.Sprint(n.port))
		if err == nil {
			return n, "", nil
		}
		if try == 2 { // once or twice, another process may have taken a port
			return nil, "", err
		}
	}
}

// listen sets the ports: port, and after it the controller's, the secure one, that behind a proxy, and the proxy's.
func (n *Node) listen(port int) {
	n.port = port
	n.Cluster = &Cluster{Addrs: []string{fmt.Sprintf("127.0.0.1:%d", port)}}
	n.Secure = fmt.Sprintf("127.0.0.1:%d", port+2)
	n.Behind, n.Via = fmt.Sprintf("127.0.0.1:%d", port+3), fmt.Sprintf("127.0.0.1:%d", port+4)
	n.props = n.properties(fmt.Sprintf("127.0.0.1:%d", port+1)) + "\n" + n.extra
}

// run runs a command of the script.
func (n *Node) run(args ...string) error {
	cmd := exec.Command(n.script, args...)
	cmd.Env = append(os.Environ(), "KAFKA_PROPS="+n.props)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kafka.sh %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// guard starts the process that stops the broker and removes its data when this process is gone.
func (n *Node) guard() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // the guard has its own copy
	cmd := exec.Command(n.script, "guard", n.data)
	cmd.Stdin = r
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return errors.Join(err, w.Close())
	}
	n.alive = w
	return cmd.Process.Release()
}

// Kill ends the broker with SIGKILL.
func (n *Node) Kill(tb testing.TB) {
	tb.Helper()
	if err := n.run("kill", n.data); err != nil {
		tb.Fatal(err)
	}
}

// Stop ends the broker politely.
func (n *Node) Stop(tb testing.TB) {
	tb.Helper()
	if err := n.run("stop", n.data); err != nil {
		tb.Fatal(err)
	}
}

// Start starts the broker again, on the same ports and data.
func (n *Node) Start(tb testing.TB) {
	tb.Helper()
	if err := n.run("start", n.dir, n.data, fmt.Sprint(n.port)); err != nil {
		tb.Fatal(err)
	}
}

// Restart kills and starts the broker.
func (n *Node) Restart(tb testing.TB) {
	tb.Helper()
	n.Kill(tb)
	n.Start(tb)
}

// certificateLife is longer than any test run.
const certificateLife = 24 * time.Hour
