// Package storagetest holds what every storage backend and everything built on one is tested with: the conformance
// suite of backends, and hooks for storage.Wrap that record, fail, or die.
//
// A new backend passes with
//
//	func TestConformance(t *testing.T) {
//		storagetest.Conformance(t, func(t *testing.T) func() storage.Store {
//			root := t.TempDir()
//			return func() storage.Store { return mine.New(root) }
//		})
//	}
//
// where each call of the inner function opens another Store on the same objects, as another process would. What a backend
// does otherwise by its nature is a Trait.
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/storage"
)

// Trait is something that a backend does otherwise than others, and says so in its documents.
type Trait int

// SweepsByAge is a backend that cannot tell a dead attempt from a silent one: what has just been staged is left alone,
// and what is published is never swept. Tests of its own show what it sweeps.
const SweepsByAge Trait = 1

// Conformance runs the suite. place makes an empty place and returns how to open a Store on it.
func Conformance(t *testing.T, place func(t *testing.T) func() storage.Store, traits ...Trait) {
	tests := map[string]func(t *testing.T, open func() storage.Store){
		"absent objects are told apart from faults":   absentObjects,
		"a put is read back whole and by ranges":      putAndRead,
		"a put never replaces":                        putNeverReplaces,
		"of racing puts one is stored":                racingPuts,
		"keys are listed in byte order after a start": listing,
		"keys that are not clean paths are refused":   badKeys,
		"odd characters in keys survive":              oddKeys,
		"staged bytes are unseen until published":     stagePublishSettle,
		"an aborted object leaves nothing":            abort,
		"a publish never replaces":                    publishYields,
		"a sweep spares the living":                   sweepSpares,
		"a delete is final and repeatable":            deletes,
		"many objects are deleted at once":            deletesMany,
		"a cancelled context stops every operation":   cancelled,
	}
	if !slices.Contains(traits, SweepsByAge) {
		tests["a sweep clears the dead"] = sweep
		tests["what is not settled is known to everyone"] = unsettled
		tests["a sweep keeps published objects that are in use"] = sweepKeeps
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

func absentObjects(t *testing.T, open func() storage.Store) {
	s := open()
	ctx := t.Context()
	if _, err := s.Get(ctx, "a/b"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Get: %v, want ErrNotExist", err)
	}
	if _, err := s.Open(ctx, "a/b"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Open: %v, want ErrNotExist", err)
	}
	if _, err := s.Stat(ctx, "a/b"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Stat: %v, want ErrNotExist", err)
	}
	if got := keys(t, s, "", ""); len(got) != 0 {
		t.Errorf("List of nothing: %v", got)
	}
	put(t, s, "a/b/c", "x")
	if _, err := s.Get(ctx, "a/b"); err == nil {
		t.Error("Get of a prefix: no error")
	}
	var e *storage.Error
	if _, err := s.Get(ctx, "gone"); !errors.As(err, &e) || e.Op != "get" || e.Key != "gone" {
		t.Errorf("Get: %v, want operation and key in it", err)
	}
}

func putAndRead(t *testing.T, open func() storage.Store) {
	s := open()
	body := bytes.Repeat([]byte("0123456789"), 50_000)
	put(t, s, "deep/er/key", string(body))
	put(t, s, "empty", "")
	other := open()
	if got := get(t, other, "deep/er/key"); got != string(body) {
		t.Errorf("Get: %d bytes, want %d", len(got), len(body))
	}
	if got := get(t, other, "empty"); got != "" {
		t.Errorf("Get of an empty object: %q", got)
	}
	for _, room := range []int{0, 10, len(body), 2 * len(body)} {
		for key, want := range map[string][]byte{"deep/er/key": body, "empty": nil} {
			buf := bytes.Repeat([]byte("x"), room)
			got, err := storage.GetInto(t.Context(), other, key, buf[:room/2])
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("GetInto memory of %d bytes: %d bytes, %v, want %d", room, len(got), err, len(want))
			}
			if room > len(want)+bytes.MinRead && len(want) > 0 && &got[0] != &buf[0] {
				t.Error("GetInto has not taken the memory that it was given")
			}
		}
	}
	o, err := other.Open(t.Context(), "deep/er/key")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if o.Size() != int64(len(body)) {
		t.Errorf("Size: %d, want %d", o.Size(), len(body))
	}
	part := make([]byte, 10)
	if _, err := o.ReadAt(part, 123_455); err != nil || string(part) != "5678901234" {
		t.Errorf("ReadAt: %q, %v", part, err)
	}
	if n, err := o.ReadAt(part, int64(len(body))-3); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt over the end: %d, %v", n, err)
	}
	info, err := other.Stat(t.Context(), "deep/er/key")
	if err != nil || info.Size != int64(len(body)) || info.Key != "deep/er/key" || info.Modified.IsZero() {
		t.Errorf("Stat: %+v, %v", info, err)
	}
}

func putNeverReplaces(t *testing.T, open func() storage.Store) {
	put(t, open(), "k", "first")
	outcome, err := open().PutIfAbsent(t.Context(), "k", []byte("second"))
	if outcome != storage.Exists || err != nil {
		t.Errorf("second put: %v, %v", outcome, err)
	}
	if got := get(t, open(), "k"); got != "first" {
		t.Errorf("Get: %q", got)
	}
}

func racingPuts(t *testing.T, open func() storage.Store) {
	for round := range 20 {
		key := fmt.Sprintf("race/%d", round)
		const racers = 8
		outcomes := make([]storage.Outcome, racers)
		var wg sync.WaitGroup
		for i := range racers {
			s := open()
			wg.Go(func() {
				outcomes[i], _ = s.PutIfAbsent(t.Context(), key, []byte(fmt.Sprint(i)))
				_ = s.Close()
			})
		}
		wg.Wait()
		winner := slices.Index(outcomes, storage.Stored)
		if winner < 0 || slices.Contains(outcomes[winner+1:], storage.Stored) || slices.Contains(outcomes, storage.Unknown) {
			t.Fatalf("outcomes %v, want one stored and the others exist", outcomes)
		}
		if got := get(t, open(), key); got != fmt.Sprint(winner) {
			t.Fatalf("stored %q, winner %d", got, winner)
		}
	}
}

func listing(t *testing.T, open func() storage.Store) {
	s := open()
	all := []string{"a", "a.b", "a/b", "a/b.c", "a/b/c", "a0", "b/1", "b/10", "b/2", "c"}
	var stored []string
	for _, k := range all {
		// A file system cannot hold both "a" and "a/b"; object stores can. Only what may coexist is asked for.
		if !slices.ContainsFunc(stored, func(o string) bool { return strings.HasPrefix(k, o+"/") }) {
			put(t, s, k, "x")
			stored = append(stored, k)
		}
	}
	want := func(prefix, after string) (w []string) {
		for _, k := range stored {
			if strings.HasPrefix(k, prefix) && k > after {
				w = append(w, k)
			}
		}
		slices.Sort(w)
		return w
	}
	for _, prefix := range []string{"", "a", "a/", "a/b", "b/", "b/1", "z", "b"} {
		for _, after := range append([]string{"", "b/15"}, all...) {
			if got := keys(t, open(), prefix, after); !slices.Equal(got, want(prefix, after)) {
				t.Errorf("List(%q, %q) = %v, want %v", prefix, after, got, want(prefix, after))
			}
		}
	}
	stop := errors.New("stop")
	n := 0
	err := s.List(t.Context(), "", "", func(storage.Info) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("List with a failing fn: %v after %d", err, n)
	}
}

func badKeys(t *testing.T, open func() storage.Store) {
	s := open()
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\x00b"} {
		if _, err := s.PutIfAbsent(t.Context(), key, nil); err == nil {
			t.Errorf("put %q: no error", key)
		}
		if _, err := s.Stage(t.Context(), key); err == nil {
			t.Errorf("stage %q: no error", key)
		}
		if _, err := s.Get(t.Context(), key); err == nil {
			t.Errorf("get %q: no error", key)
		}
	}
}

func oddKeys(t *testing.T, open func() storage.Store) {
	s := open()
	for _, key := range []string{"p=a b/x", "p=%2F/x", "é/😀", "a+b&c=d", "q?x#y", "_delta_log/00000000000000000000.json", ".hidden"} {
		put(t, s, key, key)
		if got := get(t, open(), key); got != key {
			t.Errorf("%q came back as %q", key, got)
		}
		if got := keys(t, open(), key, ""); len(got) != 1 {
			t.Errorf("List(%q) = %v", key, got)
		}
	}
}

func deletes(t *testing.T, open func() storage.Store) {
	s := open()
	put(t, s, "d/1", "x")
	for range 2 {
		if err := s.Delete(t.Context(), "d/1"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	if _, err := open().Get(t.Context(), "d/1"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Get after Delete: %v", err)
	}
	put(t, s, "d/1", "again")
}

// deletesMany deletes more than a request of S3 takes, absent ones and odd ones among them.
func deletesMany(t *testing.T, open func() storage.Store) {
	s := open()
	stays := []string{"d/key", "d/10/x", "e"}
	there := []string{"d/a b+c&d=%2F", "d/é😀", "d/<&>\"'", "f"}
	for _, key := range append(stays, there...) {
		put(t, s, key, "x")
	}
	var gone []string
	for i := range 2100 {
		gone = append(gone, fmt.Sprintf("d/absent/%d", i))
	}
	gone = append(append(there[:2:2], gone...), there[2:]...)
	for range 2 {
		if err := open().DeleteAll(t.Context(), gone); err != nil {
			t.Errorf("DeleteAll: %v", err)
		}
	}
	slices.Sort(stays)
	if got := keys(t, open(), "", ""); !slices.Equal(got, stays) {
		t.Errorf("left: %v, want %v", got, stays)
	}
	if err := s.DeleteAll(t.Context(), nil); err != nil {
		t.Errorf("DeleteAll of nothing: %v", err)
	}
	if err := s.DeleteAll(t.Context(), []string{"e", "../e"}); err == nil {
		t.Error("DeleteAll of a bad key: no error")
	}
}

func cancelled(t *testing.T, open func() storage.Store) {
	s := open()
	put(t, s, "k", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getErr := s.Get(ctx, "k")
	_, putErr := s.PutIfAbsent(ctx, "k2", nil)
	_, stageErr := s.Stage(ctx, "k3")
	deleteErr := s.DeleteAll(ctx, []string{"k"})
	listErr := s.List(ctx, "", "", func(storage.Info) error { return nil })
	for op, err := range map[string]error{"get": getErr, "put": putErr, "stage": stageErr, "delete all": deleteErr, "list": listErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", op, err)
		}
	}
}
