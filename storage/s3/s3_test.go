package s3_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// options reach a server, or a proxy in front of it, without waiting long.
func options(endpoint string) s3.Options {
	return s3.Options{
		Endpoint: endpoint, Region: s3test.Region, Credentials: s3test.Credentials(), Version: "test",
		Retry: retry.Policy{First: time.Millisecond, Longest: 20 * time.Millisecond},
	}
}

func open(t *testing.T, o s3.Options, bucket, prefix string) (*s3.Client, *s3.Store) {
	t.Helper()
	client, err := s3.New(o)
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.Store(bucket, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return client, store
}

func TestConformance(t *testing.T) { conformance(t, s3test.Start(t)) }

func TestConformanceOnMinIO(t *testing.T) { conformance(t, s3test.MinIO(t)) }

func conformance(t *testing.T, server *s3test.Server) {
	t.Helper()
	for name, place := range map[string]struct {
		prefix  string
		retried bool
	}{
		"a bucket, once":           {"", false},
		"below a prefix, retrying": {"a lake/of=mine", true},
	} {
		t.Run(name, func(t *testing.T) {
			var clients []*s3.Client // two stand for any number of processes: making one takes its time
			for range 2 {
				client, _ := open(t, options(server.URL), "any", "")
				clients = append(clients, client)
			}
			storagetest.Conformance(t, func(t *testing.T) func() storage.Store {
				bucket := server.Bucket(t, "b"+randomName())
				opened := 0
				return func() storage.Store {
					opened++
					client := clients[opened%len(clients)]
					store, err := client.Store(bucket, place.prefix)
					if err != nil {
						t.Fatal(err)
					}
					if place.retried {
						return client.Retrier().Wrap(store)
					}
					return store
				}
			}, storagetest.SweepsByAge)
		})
	}
}

func randomName() string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	b := make([]byte, 16)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

// big is more than two parts, the last one small.
func big() []byte {
	b := make([]byte, 11<<20+123)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(b)
	return b
}

func write(t *testing.T, w storage.Staged, body []byte) {
	t.Helper()
	for len(body) > 0 {
		n := min(len(body), 300_000)
		if _, err := w.Write(body[:n]); err != nil {
			t.Fatal(err)
		}
		body = body[n:]
	}
}

func listed(t *testing.T, s storage.Store) (keys []string) {
	t.Helper()
	if err := s.List(t.Context(), "", "", func(i storage.Info) error { keys = append(keys, i.Key); return nil }); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestUploadIsUnseenUntilPublishedAndThenWhole(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	_, store := open(t, options(proxy.URL), server.Bucket(t, "bucket"), "lake")
	w, err := store.Stage(t.Context(), "x/part")
	if err != nil {
		t.Fatal(err)
	}
	body := big()
	write(t, w, body)
	if keys := listed(t, store); len(keys) != 0 {
		t.Errorf("listed before Publish: %v", keys)
	}
	if _, err := store.Stat(t.Context(), "x/part"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Stat before Publish: %v", err)
	}
	if err := w.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := store.Get(t.Context(), "x/part")
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("Get: %d bytes, %v", len(got), err)
	}
	parts := 0
	for _, r := range proxy.Take() {
		if strings.Contains(r, "?partNumber") {
			parts++
		}
	}
	if parts != 3 {
		t.Errorf("%d parts, want 3", parts)
	}
	if err := w.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := listed(t, store); len(keys) != 0 {
		t.Errorf("after Abort: %v", keys)
	}
}

func TestPartIsTriedAgainAlone(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	_, store := open(t, options(proxy.URL), server.Bucket(t, "bucket"), "lake")
	faults := []s3test.Fault{s3test.Drop, s3test.Refuse, s3test.ResetAfter, s3test.ErrorAfter, s3test.Flip}
	proxy.Harm(func(r *http.Request) s3test.Fault {
		if r.URL.Query().Get("partNumber") == "2" && len(faults) > 0 {
			fault := faults[0]
			faults = faults[1:]
			return fault
		}
		return s3test.None
	})
	w, err := store.Stage(t.Context(), "part")
	if err != nil {
		t.Fatal(err)
	}
	body := big()
	write(t, w, body)
	if err := w.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(faults) != 0 {
		t.Errorf("%d faults were not met", len(faults))
	}
	if got, err := store.Get(t.Context(), "part"); err != nil || !bytes.Equal(got, body) {
		t.Errorf("Get: %d bytes, %v", len(got), err)
	}
}

func TestPublishWhoseAnswerIsLostKnowsItsOwnObject(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	client, raw := open(t, options(proxy.URL), server.Bucket(t, "bucket"), "lake")
	store := client.Retrier().Wrap(raw)
	for name, body := range map[string][]byte{"small": []byte("x"), "large": big()} {
		for _, fault := range []s3test.Fault{s3test.ResetAfter, s3test.ErrorAfter, s3test.Drop, s3test.Refuse} {
			w, err := store.Stage(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, w, body)
			harmed := false
			proxy.Harm(func(r *http.Request) s3test.Fault {
				isPublish := name == "small" && r.Method == http.MethodPut || r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
				if isPublish && !harmed {
					harmed = true
					return fault
				}
				return s3test.None
			})
			if err := w.Publish(t.Context()); err != nil || !harmed {
				t.Errorf("%s, fault %d: Publish: %v", name, fault, err)
			}
			proxy.Harm(nil)
			if got, err := store.Get(t.Context(), name); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s, fault %d: Get: %d bytes, %v", name, fault, len(got), err)
			}
			if err := w.Abort(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPublishRefusesTheKeyOfAnother(t *testing.T) {
	server := s3test.Start(t)
	client, raw := open(t, options(server.URL), server.Bucket(t, "bucket"), "lake")
	store := client.Retrier().Wrap(raw)
	w, err := store.Stage(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, []byte("mine"))
	if _, err := store.PutIfAbsent(t.Context(), "k", []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(t.Context()); err == nil || !strings.Contains(err.Error(), "another attempt") {
		t.Errorf("Publish: %v", err)
	}
	if got, err := store.Get(t.Context(), "k"); err != nil || string(got) != "theirs" {
		t.Errorf("Get: %q, %v", got, err)
	}
}

func TestSweepAbortsStaleUploadsOfOthersOnly(t *testing.T) {
	server := s3test.Start(t)
	bucket := server.Bucket(t, "bucket")
	_, dead := open(t, options(server.URL), bucket, "lake")
	later := options(server.URL)
	later.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	_, alive := open(t, later, bucket, "lake")
	_, elsewhere := open(t, options(server.URL), bucket, "lake2")
	body := big()
	stage := func(s *s3.Store, key string) storage.Staged {
		w, err := s.Stage(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		write(t, w, body)
		return w
	}
	lost, own, other := stage(dead, "dead"), stage(alive, "own"), stage(elsewhere, "other")
	if n, err := dead.Sweep(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("Sweep of what is young: %d, %v", n, err)
	}
	if n, err := alive.Sweep(t.Context(), nil); n != 1 || err != nil {
		t.Errorf("Sweep a day later: %d, %v; want the dead one", n, err)
	}
	if err := lost.Publish(t.Context()); err == nil {
		t.Error("Publish of what was swept: no error")
	}
	for _, w := range []storage.Staged{own, other} {
		if err := w.Publish(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
