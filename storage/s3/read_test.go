package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
)

// place is a store through a proxy, raw and retried, with one object of several spans under "k".
type place struct {
	server  *s3test.Server
	proxy   *s3test.Proxy
	raw     *s3.Store
	retried storage.Store
	body    []byte
}

func newPlace(t *testing.T, change func(*s3.Options)) *place {
	t.Helper()
	p := &place{server: s3test.Start(t), body: big()[:3<<20]}
	p.proxy = s3test.NewProxy(t, p.server)
	o, bucket := options(p.proxy.URL), p.server.Bucket(t, "bucket")
	_, patient := open(t, o, bucket, "in")
	if _, err := patient.PutIfAbsent(t.Context(), "k", p.body); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&o)
	}
	client, raw := open(t, o, bucket, "in")
	p.raw, p.retried = raw, client.Retrier().Wrap(raw)
	p.proxy.Take()
	return p
}

func isGet(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/k")
}

// harmOnce harms the first request for the object.
func (p *place) harmOnce(fault s3test.Fault) {
	done := false
	p.proxy.Harm(func(r *http.Request) s3test.Fault {
		if done || !isGet(r) {
			return s3test.None
		}
		done = true
		return fault
	})
}

func TestSmallReadsAreFewRequests(t *testing.T) {
	p := newPlace(t, nil)
	o, err := p.raw.Open(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(struct{ io.Reader }{io.NewSectionReader(o, 0, o.Size())})
	if err != nil || !bytes.Equal(got, p.body) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	requests := p.proxy.Take()
	if len(requests) > 6 {
		t.Errorf("%d requests: %v", len(requests), requests)
	}
	for range 500 {
		part := make([]byte, 1+rand.IntN(5000))
		off := rand.Int64N(o.Size())
		n, err := o.ReadAt(part, off)
		if want := p.body[off:min(off+int64(len(part)), o.Size())]; !bytes.Equal(part[:n], want) || err != nil && (err != io.EOF || n == len(part)) {
			t.Fatalf("ReadAt(%d, %d): %d, %v", len(part), off, n, err)
		}
	}
	if _, err := o.ReadAt(make([]byte, 1), o.Size()); err != io.EOF {
		t.Errorf("ReadAt at the end: %v", err)
	}
}

func TestObjectReplacedWhileItIsReadIsAnError(t *testing.T) {
	p := newPlace(t, nil)
	o, err := p.retried.Open(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.retried.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.retried.PutIfAbsent(t.Context(), "k", bytes.Repeat([]byte("x"), len(p.body))); err != nil {
		t.Fatal(err)
	}
	if _, err := o.ReadAt(make([]byte, 10), 1<<20); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("ReadAt: %v", err)
	}
}

func TestFlippedBitIsAnErrorAndThenReadAgain(t *testing.T) {
	p := newPlace(t, nil)
	p.harmOnce(s3test.FlipAnswer)
	if _, err := p.raw.Get(t.Context(), "k"); err == nil {
		t.Error("Get of a damaged answer: no error")
	}
	p.harmOnce(s3test.FlipAnswer)
	if got, err := p.retried.Get(t.Context(), "k"); err != nil || !bytes.Equal(got, p.body) {
		t.Errorf("Get, retried: %d bytes, %v", len(got), err)
	}
	p.harmOnce(s3test.FlipAnswer)
	o, err := p.retried.Open(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	if err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("read from beginning to end: %v", err)
	}
}

func TestClosedConnectionIsNotTheEndOfAnObject(t *testing.T) {
	p := newPlace(t, nil)
	for _, store := range []storage.Store{p.raw, p.retried} {
		o, err := store.Open(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		raw := store == storage.Store(p.raw)
		harms := 3
		p.proxy.Harm(func(r *http.Request) s3test.Fault {
			if harms--; harms < 0 && !raw || !isGet(r) { // the raw one is never answered: net/http itself asks again on each connection that it has kept
				return s3test.None
			}
			return s3test.ResetAfter
		})
		got, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
		switch {
		case raw:
			if err == nil || errors.Is(err, io.EOF) {
				t.Errorf("raw: %d bytes of %d, %v", len(got), len(p.body), err)
			}
		case err != nil || !bytes.Equal(got, p.body):
			t.Errorf("retried: %d bytes of %d, %v", len(got), len(p.body), err)
		}
	}
}

func TestBitFlippedOnTheWayToTheStoreIsNotStored(t *testing.T) {
	p := newPlace(t, nil)
	p.proxy.Harm(func(r *http.Request) s3test.Fault {
		if r.Method == http.MethodPut {
			return s3test.Flip
		}
		return s3test.None
	})
	outcome, err := p.raw.PutIfAbsent(t.Context(), "new", []byte("content"))
	if outcome != storage.Unknown || err == nil {
		t.Errorf("PutIfAbsent: %v, %v", outcome, err)
	}
	if _, err := p.raw.Get(t.Context(), "new"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Get: %v", err)
	}
}

func TestStalledReadIsCutAndTriedAgain(t *testing.T) {
	p := newPlace(t, func(o *s3.Options) { o.Stall = 200 * time.Millisecond })
	p.proxy.Harm(func(r *http.Request) s3test.Fault { // each, since net/http itself asks again where not even the head came in time
		if isGet(r) {
			return s3test.Stall
		}
		return s3test.None
	})
	if _, err := p.raw.Get(t.Context(), "k"); err == nil {
		t.Error("a stalled Get has ended without an error")
	}
	p.harmOnce(s3test.Stall)
	if got, err := p.retried.Get(t.Context(), "k"); err != nil || !bytes.Equal(got, p.body) {
		t.Errorf("Get, retried: %d bytes, %v", len(got), err)
	}
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	p := newPlace(t, func(o *s3.Options) { o.Retry.First, o.Retry.Longest = time.Hour, time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	p.proxy.Harm(func(*http.Request) s3test.Fault {
		cancel()
		return s3test.Refuse
	})
	if _, err := p.retried.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v", err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	p := newPlace(t, nil)
	noBucket := func(store storage.Store) error { _, err := store.Get(t.Context(), "k"); return err }
	_, elsewhere := open(t, options(p.server.URL), "nowhere", "")
	wrong := options(p.server.URL)
	wrong.Credentials = strangers()
	_, stranger := open(t, wrong, "bucket", "in")
	_, statErr := elsewhere.Stat(t.Context(), "k")
	listErr := elsewhere.List(t.Context(), "", "", func(storage.Info) error { return nil })
	for what, c := range map[string]struct {
		err   error
		words []string
	}{
		"get without a bucket":  {noBucket(elsewhere), []string{"get k: 404 NoSuchBucket", "request ", "make the bucket"}},
		"stat without a bucket": {statErr, []string{"stat k: 404 NoSuchBucket"}},
		"list without a bucket": {listErr, []string{"404 NoSuchBucket"}},
		"get by a stranger":     {noBucket(stranger), []string{"get k: 403 ", "check the AWS credentials"}},
	} {
		for _, word := range c.words {
			if c.err == nil || !strings.Contains(c.err.Error(), word) {
				t.Errorf("%s: %v; want %q in it", what, c.err, word)
			}
		}
		if errors.Is(c.err, storage.ErrNotExist) {
			t.Errorf("%s: looks like an absent object: %v", what, c.err)
		}
	}
	var answer *s3.Error
	if err := noBucket(elsewhere); !errors.As(err, &answer) || answer.Status != 404 || answer.RequestID == "" {
		t.Errorf("%#v", answer)
	}
}

func TestListingGoesOnOverPagesAndFaults(t *testing.T) {
	p := newPlace(t, nil)
	folder := filepath.Join(p.server.Folder("bucket", "in"), "many")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	const files = 2500
	for i := range files {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%04d", i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	p.proxy.Harm(func(*http.Request) s3test.Fault {
		n++
		return []s3test.Fault{s3test.None, s3test.Refuse, s3test.Drop}[n%3]
	})
	var got []string
	err := p.retried.List(t.Context(), "many/", "many/f0009", func(i storage.Info) error {
		got = append(got, i.Key)
		return nil
	})
	if err != nil || len(got) != files-10 {
		t.Fatalf("%d keys, %v", len(got), err)
	}
	for i, key := range got {
		if want := fmt.Sprintf("many/f%04d", i+10); key != want {
			t.Fatalf("key %d is %s, want %s", i, key, want)
		}
	}
}
