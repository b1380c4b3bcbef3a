package toxitest

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo answers each byte with itself.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn) }()
		}
	}()
	return l.Addr().String()
}

// ask sends a byte and waits a while for its echo.
func ask(t *testing.T, p *Proxy, patience time.Duration) error {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte{1}); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return err
}

func TestWayIsHarmedUntilItIsHealed(t *testing.T) {
	s := Start(t)
	p := s.Proxy(t, "127.0.0.1:0", echo(t))
	const long, short = time.Minute, 50 * time.Millisecond
	works := func() {
		t.Helper()
		if err := ask(t, p, long); err != nil {
			t.Errorf("without harm: %v", err)
		}
	}
	works()
	p.Delay(t, Down, long, 0)
	if err := ask(t, p, short); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("delayed: %v", err)
	}
	s.Heal(t)
	works()
	p.Swallow(t, Up)
	if err := ask(t, p, short); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("swallowed: %v", err)
	}
	s.Heal(t)
	works()
	p.Reset(t, Down)
	if err := ask(t, p, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reset: %v", err)
	}
	s.Heal(t)
	works()
}
