package s3_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
)

// inFront runs a proxy in front of the server that has before seen each request first.
func inFront(tb testing.TB, server *s3test.Server, before func(*http.Request), answered func(*http.Response) error) string {
	tb.Helper()
	target, err := url.Parse(server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport:      &http.Transport{MaxIdleConnsPerHost: 32},
		ModifyResponse: answered,
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before(r)
		forward.ServeHTTP(w, r)
	}))
	tb.Cleanup(front.Close)
	return front.URL
}

// TestLongRangesAreRequestsSideBySide has none of a range's four requests answered before all have come.
func TestLongRangesAreRequestsSideBySide(t *testing.T) {
	server := s3test.Start(t)
	var came atomic.Int32
	all := make(chan struct{})
	front := inFront(t, server, func(r *http.Request) {
		if r.Header.Get("Range") == "" {
			return
		}
		if came.Add(1) == 4 {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done(): // by the client, which has waited for too long
		}
	}, nil)
	_, store := open(t, options(front), server.Bucket(t, "bucket"), "")
	body := big()[:8<<20]
	if _, err := store.PutIfAbsent(t.Context(), "k", body); err != nil {
		t.Fatal(err)
	}
	object, err := store.Open(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(body))
	if _, err := object.ReadAt(got, 0); err != nil || !bytes.Equal(got, body) || came.Load() != 4 {
		t.Errorf("%v after %d requests", err, came.Load())
	}
}

func TestPartOfARangeThatFailsIsAnErrorAndThenReadAgain(t *testing.T) {
	p := newPlace(t, nil)
	p.body = big()[:8<<20]
	if _, err := p.raw.PutIfAbsent(t.Context(), "long/k", p.body); err != nil {
		t.Fatal(err)
	}
	for _, store := range []storage.Store{p.raw, p.retried} {
		o, err := store.Open(t.Context(), "long/k")
		if err != nil {
			t.Fatal(err)
		}
		p.harmOnce(s3test.ErrorAfter)
		got := make([]byte, len(p.body))
		n, err := o.ReadAt(got, 0)
		if raw := store == storage.Store(p.raw); raw != (err != nil) || !raw && !bytes.Equal(got[:n], p.body) {
			t.Errorf("raw: %v: %d bytes, %v", raw, n, err)
		}
	}
	p.harmOnce(s3test.FlipAnswer)
	o, err := p.retried.Open(t.Context(), "long/k")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	if err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("read from beginning to end: %v", err)
	}
}

// BenchmarkStream reads an object from the beginning to the end, from a server that answers after 100 ms, and then sends
// 16 MB/s on each connection.
func BenchmarkStream(b *testing.B) {
	server := s3test.Start(b)
	const latency, rate = 100 * time.Millisecond, 16 << 20
	front := inFront(b, server, func(*http.Request) { time.Sleep(latency) }, func(r *http.Response) error {
		r.Body = &slow{ReadCloser: r.Body, rate: rate, began: time.Now()}
		return nil
	})
	client, err := s3.New(options(front))
	if err != nil {
		b.Fatal(err)
	}
	store, err := client.Store(server.Bucket(b, "bucket"), "")
	if err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat(big()[:8<<20], 4)
	if _, err := store.PutIfAbsent(b.Context(), "k", body); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		o, err := store.Open(b.Context(), "k")
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, io.NewSectionReader(o, 0, o.Size())); err != nil || n != o.Size() {
			b.Fatal(n, err)
		}
	}
}

// slow is a body that comes at a rate, in bytes a second.
type slow struct {
	io.ReadCloser
	rate  int
	began time.Time
	n     int
}

func (s *slow) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	s.n += n
	time.Sleep(time.Until(s.began.Add(time.Duration(s.n) * time.Second / time.Duration(s.rate))))
	return n, err
}
