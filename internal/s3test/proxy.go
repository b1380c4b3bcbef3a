package s3test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"testing"
)

// Fault is what the proxy does to a request.
type Fault int

const (
	// None passes the request on.
	None Fault = iota
	// Drop cuts the connection, and the server never hears of the request.
	Drop
	// ResetAfter passes the request on, and cuts the connection in place of the answer.
	ResetAfter
	// ErrorAfter passes the request on, and answers 500 InternalError in place of a success.
	ErrorAfter
	// Refuse answers 503 SlowDown, and the server never hears of the request.
	Refuse
	// Skew answers 403 RequestTimeTooSkewed, as to a client whose clock is wrong, and the server never hears of the request.
	Skew
	// Expire answers 400 ExpiredToken, and the server never hears of the request.
	Expire
	// Late cuts the connection, and passes the request on after the next one has been answered.
	Late
	// Twice passes the request on two times, one behind the other, and gives the second answer.
	Twice
	// Flip passes the request on with one bit of its body another.
	Flip
	// FlipAnswer gives the answer with one bit of its body another.
	FlipAnswer
	// Stall gives the answer's head and the half of its body, and then nothing until the client gives up.
	Stall
)

// Proxy stands between client and server.
type Proxy struct {
	URL string

	forward  http.Handler
	mu       sync.Mutex
	late     []*http.Request // with their bodies in memory
	decide   func(*http.Request) Fault
	requests []string
}

// NewProxy runs a proxy in front of the server until the end of the test. It passes on all that it is not told to harm.
func NewProxy(tb testing.TB, server *Server) *Proxy {
	tb.Helper()
	target, err := url.Parse(server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport:    &http.Transport{MaxIdleConnsPerHost: 32},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // invariant: net/http's own way to cut a connection
	}
	front := httptest.NewServer(http.HandlerFunc(p.serve))
	tb.Cleanup(front.Close)
	p.URL = front.URL
	return p
}

// Harm makes decide choose what is done to each request from now on; nil harms none. Requests that are late arrive now at
// the latest.
func (p *Proxy) Harm(decide func(*http.Request) Fault) {
	p.deliver()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decide = decide
}

// Take returns the requests since it was last called, one a line: method, operation where the query names one, and path
// without what is random.
func (p *Proxy) Take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.requests
	p.requests = nil
	return taken
}

func (p *Proxy) note(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, line(r))
	if p.decide == nil {
		return None
	}
	return p.decide(r)
}

var random = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func line(r *http.Request) string {
	text := r.Method + " " + random.ReplaceAllString(r.URL.Path, "UUID")
	query := r.URL.Query()
	for _, operation := range []string{"list-type", "uploads", "partNumber", "uploadId"} {
		if query.Has(operation) {
			text += " ?" + operation
		}
	}
	return text
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	switch fault := p.note(r); fault {
	case Drop:
		panic(http.ErrAbortHandler) // invariant: net/http's own way to cut a connection
	case Late:
		p.hold(r)
		panic(http.ErrAbortHandler) // invariant: net/http's own way to cut a connection
	case Refuse:
		answer(w, http.StatusServiceUnavailable, "SlowDown")
	case Skew:
		answer(w, http.StatusForbidden, "RequestTimeTooSkewed")
	case Expire:
		answer(w, http.StatusBadRequest, "ExpiredToken")
	case ResetAfter, ErrorAfter:
		made := httptest.NewRecorder()
		p.forward.ServeHTTP(made, r)
		if fault == ResetAfter {
			panic(http.ErrAbortHandler) // invariant: net/http's own way to cut a connection
		}
		answer(w, http.StatusInternalServerError, "InternalError")
	case Twice:
		p.twice(w, r)
	case Flip:
		r.Body = &flipped{ReadCloser: r.Body}
		p.forward.ServeHTTP(w, r)
	case FlipAnswer, Stall:
		made := httptest.NewRecorder()
		p.forward.ServeHTTP(made, r)
		spoil(fault, made, w, r)
	default:
		p.forward.ServeHTTP(w, r)
		p.deliver()
	}
}

// hold keeps a request for later.
func (p *Proxy) hold(r *http.Request) {
	copies := copied(r, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = append(p.late, copies...)
}

func (p *Proxy) twice(w http.ResponseWriter, r *http.Request) {
	for i, c := range copied(r, 2) {
		if i == 0 {
			p.forward.ServeHTTP(httptest.NewRecorder(), c)
		} else {
			p.forward.ServeHTTP(w, c)
		}
	}
}

// copied returns requests that do not end with the given one; none if the client has gone before it was sent.
func copied(r *http.Request, n int) (copies []*http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	for range n {
		c := r.Clone(context.Background())
		c.Body = io.NopCloser(bytes.NewReader(body))
		copies = append(copies, c)
	}
	return copies
}

// deliver passes on what is late. Nobody hears the answers.
func (p *Proxy) deliver() {
	p.mu.Lock()
	late := p.late
	p.late = nil
	p.mu.Unlock()
	for _, r := range late {
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
	}
}

func spoil(fault Fault, made *httptest.ResponseRecorder, w http.ResponseWriter, r *http.Request) {
	for name, values := range made.Header() {
		w.Header()[name] = values
	}
	body := made.Body.Bytes()
	w.WriteHeader(made.Code)
	if fault == FlipAnswer && len(body) > 0 {
		body[len(body)/2] ^= 1
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("X-Amz-Request-Id", "PROXY")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>said the proxy</Message><RequestId>PROXY</RequestId></Error>", code)
}

// flipped is a body with a bit of its first byte turned.
type flipped struct {
	io.ReadCloser
	done bool
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if n > 0 && !f.done {
		p[0] ^= 1
		f.done = true
	}
	return n, err
}
