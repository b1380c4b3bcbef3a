// Package toxitest puts Toxiproxy between a client and a server of a test, on the level of TCP: connections that stall,
// are reset, or are slow.
//
// Start installs the program into .cache of the repository when it is first asked for, and runs it on the loopback
// interface until the end of the test. A test is skipped where it cannot be installed, and with -short; with CI=true it
// fails instead.
package toxitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/checkout"
)

var toxiproxy = checkout.Program{Module: "github.com/Shopify/toxiproxy/v2", Package: "cmd/server", Version: "v2.5.0", Folder: "toxiproxy"}

// Server is a running Toxiproxy.
type Server struct{ api string }

// Start runs a server until the end of the test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("Toxiproxy is not started with -short")
	}
	program, err := checkout.Install(toxiproxy)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skipf("no Toxiproxy: %v", err)
	}
	for try := 0; ; try++ {
		s, err := run(tb, program)
		if err == nil {
			return s
		}
		if try == 2 { // once or twice, another process may have taken the port
			tb.Fatal(err)
		}
	}
}

const (
	startTimeout = 20 * time.Second
	pollInterval = 10 * time.Millisecond
)

// run starts the program and returns when it answers.
func run(tb testing.TB, program string) (*Server, error) {
	port := strconv.Itoa(checkout.FreePorts(1))
	cmd := exec.Command(program, "-host", "127.0.0.1", "-port", port)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // says that it was killed
	})
	s := &Server{api: "http://127.0.0.1:" + port}
	deadline := time.Now().Add(startTimeout)
	for {
		err := s.ask(http.MethodGet, "/version", nil, nil)
		if err == nil {
			return s, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("start Toxiproxy: %w", err)
		}
		time.Sleep(pollInterval)
	}
}

// ask makes a request of the program's own interface; in and out are JSON, and may be nil.
func (s *Server) ask(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, s.api+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("toxiproxy: %s %s: %s: %s", method, path, response.Status, answer)
	case out == nil:
		return nil // not all answers are JSON
	default:
		return json.Unmarshal(answer, out)
	}
}

// Proxy is a way to a server.
type Proxy struct {
	Addr string // host:port where it listens

	server *Server
	name   string
}

// Proxy listens at an address, of which the port may be 0, and passes all on to another.
func (s *Server) Proxy(tb testing.TB, listen, upstream string) *Proxy {
	tb.Helper()
	p := &Proxy{server: s, name: upstream}
	var made struct{ Listen string }
	if err := s.ask(http.MethodPost, "/proxies", map[string]string{"name": p.name, "listen": listen, "upstream": upstream}, &made); err != nil {
		tb.Fatal(err)
	}
	p.Addr = made.Listen
	return p
}

// Stream is a direction.
type Stream string

const (
	Up   Stream = "upstream"   // to the server
	Down Stream = "downstream" // to the client
)

// Delay holds all bytes back for so long.
func (p *Proxy) Delay(tb testing.TB, stream Stream, by, jitter time.Duration) {
	tb.Helper()
	p.add(tb, "latency", stream, map[string]int64{"latency": by.Milliseconds(), "jitter": jitter.Milliseconds()})
}

// Reset resets each connection as soon as a byte has come.
func (p *Proxy) Reset(tb testing.TB, stream Stream) {
	tb.Helper()
	p.add(tb, "reset_peer", stream, nil)
}

// Swallow lets no byte through, and closes the connections when the proxy is healed.
func (p *Proxy) Swallow(tb testing.TB, stream Stream) {
	tb.Helper()
	p.add(tb, "timeout", stream, nil)
}

func (p *Proxy) add(tb testing.TB, toxic string, stream Stream, attributes map[string]int64) {
	tb.Helper()
	in := map[string]any{"type": toxic, "stream": stream, "attributes": attributes}
	if err := p.server.ask(http.MethodPost, "/proxies/"+p.name+"/toxics", in, nil); err != nil {
		tb.Fatal(err)
	}
}

// Heal ends all that was done to any proxy.
func (s *Server) Heal(tb testing.TB) {
	tb.Helper()
	if err := s.ask(http.MethodPost, "/reset", nil, nil); err != nil {
		tb.Fatal(err)
	}
}
