package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler answers /healthz, /readyz and /metrics.
func (m *Monitor) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", answer(m.dead))
	mux.HandleFunc("GET /readyz", answer(m.unready))
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// answer is 200 ok, or 503 and the reason.
func answer(reason func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := "ok"
		if why := reason(); why != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			text = why
		}
		_, _ = io.WriteString(w, text+"\n") // a caller that has gone does not care
	}
}

const (
	headerTimeout = 5 * time.Second
	endTimeout    = time.Second
)

// Serve answers on address, HOST:PORT, until stop is called, which ends requests that are under way. at is the address as
// it is in the end: port 0 is any free one.
func (m *Monitor) Serve(ctx context.Context, address string) (at string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		var operation *net.OpError // which names the address again
		if errors.As(err, &operation) {
			err = operation.Err
		}
		return "", nil, fmt.Errorf("listen on %s: %w; take another port, or end what has this one", address, err)
	}
	server := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: headerTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	stop = func() error {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		err := server.Shutdown(ending)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
		if err != nil {
			return fmt.Errorf("listen on %s: %w", listener.Addr(), err)
		}
		return nil
	}
	return listener.Addr().String(), stop, nil
}
