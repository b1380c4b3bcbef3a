package storagetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/sluicedata/sluice/storage"
)

func stagePublishSettle(t *testing.T, open func() storage.Store) {
	s := open()
	w := stage(t, s, "p=1/part-0", "hello ", "world")
	if got := keys(t, open(), "", ""); len(got) != 0 {
		t.Errorf("listed before Publish: %v", got)
	}
	if _, err := open().Get(t.Context(), "p=1/part-0"); err == nil {
		t.Error("readable before Publish")
	}
	if err := w.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := get(t, open(), "p=1/part-0"); got != "hello world" {
		t.Errorf("published %q", got)
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := open().Sweep(t.Context(), keepNone); n != 0 || err != nil {
		t.Errorf("Sweep after Settle: %d, %v", n, err)
	}
	if got := get(t, open(), "p=1/part-0"); got != "hello world" {
		t.Errorf("after Sweep %q", got)
	}
}

func abort(t *testing.T, open func() storage.Store) {
	s := open()
	unpublished := stage(t, s, "a", "x")
	published := stage(t, s, "b", "x")
	if err := published.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, w := range []storage.Staged{unpublished, published} {
		for range 2 {
			if err := w.Abort(t.Context()); err != nil {
				t.Errorf("Abort: %v", err)
			}
		}
	}
	if got := keys(t, open(), "", ""); len(got) != 0 {
		t.Errorf("after Abort: %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := open().Sweep(t.Context(), keepNone); n != 0 || err != nil {
		t.Errorf("Sweep after Abort: %d, %v", n, err)
	}
}

// publishYields: whoever publishes under a key that has an object learns of it, and leaves it alone.
func publishYields(t *testing.T, open func() storage.Store) {
	s := open()
	if _, err := open().PutIfAbsent(t.Context(), "a", []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	w := stage(t, s, "a", "ours")
	if err := w.Publish(t.Context()); !errors.Is(err, storage.ErrExist) {
		t.Errorf("Publish: %v, want ErrExist", err)
	}
	if err := w.Abort(t.Context()); err != nil {
		t.Errorf("Abort: %v", err)
	}
	if there, err := s.Get(t.Context(), "a"); err != nil || string(there) != "theirs" {
		t.Errorf("then it holds %q, %v", there, err)
	}
}

func sweepSpares(t *testing.T, open func() storage.Store) {
	s := open()
	staged, published := stage(t, s, "alive/1", "x"), stage(t, s, "alive/2", "x")
	if err := published.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := open().Sweep(t.Context(), keepNone); n != 0 || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
	if err := staged.Publish(t.Context()); err != nil {
		t.Errorf("Publish: %v", err)
	}
	if got := keys(t, open(), "", ""); !slices.Equal(got, []string{"alive/1", "alive/2"}) {
		t.Errorf("left: %v, want both", got)
	}
}

func sweep(t *testing.T, open func() storage.Store) {
	dead, alive := open(), open()
	stage(t, dead, "dead/1", "x")
	orphan := stage(t, dead, "dead/2", "x")
	if err := orphan.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	living := stage(t, alive, "alive/1", "x")
	if n, err := open().Sweep(t.Context(), keepNone); n != 0 || err != nil {
		t.Errorf("Sweep while both live: %d, %v", n, err)
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := alive.Sweep(t.Context(), keepNone); n == 0 || err != nil {
		t.Errorf("Sweep of the dead: %d, %v", n, err)
	}
	if err := living.Publish(t.Context()); err != nil {
		t.Errorf("Publish of the living: %v", err)
	}
	if got := keys(t, open(), "", ""); !slices.Equal(got, []string{"alive/1"}) {
		t.Errorf("left: %v, want alive/1", got)
	}
}

func unsettled(t *testing.T, open func() storage.Store) {
	s := open()
	if got := unsettledKeys(t, s); len(got) > 0 {
		t.Errorf("before anything is staged: %v", got)
	}
	stage(t, s, "p=1/staged", "x")
	published, settled, aborted := stage(t, s, "p=1/published", "x"), stage(t, s, "settled", "x"), stage(t, s, "aborted", "x")
	for _, w := range []storage.Staged{published, settled} {
		if err := w.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := settled.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := aborted.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, "put", "x")
	want := []string{"p=1/published", "p=1/staged"}
	if got := unsettledKeys(t, open()); !slices.Equal(got, want) {
		t.Errorf("unsettled: %v, want %v", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := unsettledKeys(t, open()); !slices.Equal(got, want) {
		t.Errorf("unsettled after the end of the process: %v, want %v", got, want)
	}
	stop := errors.New("stop")
	if _, err := open().Unsettled(t.Context(), func(string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Unsettled with a failing fn: %v", err)
	}
}

func unsettledKeys(t *testing.T, s storage.Store) (keys []string) {
	t.Helper()
	age, err := s.Unsettled(t.Context(), func(key string) error { keys = append(keys, key); return nil })
	if err != nil || age != 0 {
		t.Fatalf("Unsettled: %v, %v", age, err)
	}
	slices.Sort(keys)
	return keys
}

func sweepKeeps(t *testing.T, open func() storage.Store) {
	s := open()
	for _, key := range []string{"kept", "lost"} {
		if err := stage(t, s, key, "x").Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Sweep(t.Context(), func(key string) (bool, error) { return key == "kept", nil }); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, open(), "", ""); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("left: %v, want kept", got)
	}
}

func keepNone(string) (bool, error) { return false, nil }

func stage(t *testing.T, s storage.Store, key string, parts ...string) storage.Staged {
	t.Helper()
	w, err := s.Stage(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if _, err := w.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func put(t *testing.T, s storage.Store, key, body string) {
	t.Helper()
	if outcome, err := s.PutIfAbsent(t.Context(), key, []byte(body)); outcome != storage.Stored || err != nil {
		t.Fatalf("put %q: %v, %v", key, outcome, err)
	}
}

func get(t *testing.T, s storage.Store, key string) string {
	t.Helper()
	body, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func keys(t *testing.T, s storage.Store, prefix, startAfter string) (got []string) {
	t.Helper()
	if err := s.List(t.Context(), prefix, startAfter, func(i storage.Info) error {
		got = append(got, i.Key)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}
