package storage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
)

func TestPutAsksAgainWhileTheOutcomeIsUnknown(t *testing.T) {
	unknown := errors.New("reset")
	for name, c := range map[string]struct {
		fails   int  // puts
		applied bool // though they fail
		there   string
		want    string // empty: an error
		puts    int
	}{
		"stored":                      {want: "ours", puts: 1},
		"another was first":           {there: "theirs", want: "theirs", puts: 1},
		"stored, and the answer lost": {fails: 1, applied: true, want: "ours", puts: 1},
		"fails for a while":           {fails: 9, want: "ours", puts: 10},
		"fails for long":              {fails: 10, puts: 10},
	} {
		inner := local.New(t.TempDir())
		if c.there != "" {
			if _, err := inner.PutIfAbsent(t.Context(), "k", []byte(c.there)); err != nil {
				t.Fatal(err)
			}
		}
		puts := 0
		s := storage.Wrap(inner, func(op *storage.Op, call func() error) error {
			if op.Name != "put" {
				return call()
			}
			if puts++; puts > c.fails {
				return call()
			}
			if c.applied {
				if err := call(); err != nil {
					t.Error(err)
				}
			}
			op.Outcome = storage.Unknown
			return unknown
		})
		there, err := storage.Put(t.Context(), s, "k", []byte("ours"))
		if string(there) != c.want || errors.Is(err, unknown) != (c.want == "") || puts != c.puts {
			t.Errorf("%s: %q, %v after %d puts", name, there, err, puts)
		}
	}
}

func TestFinishingGoesOnButWaitsForNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	finish := storage.Finish(ctx)
	if storage.Stops(ctx) || storage.Stops(finish) {
		t.Error("it stops before it is told to")
	}
	stop()
	if !storage.Stops(ctx) || !storage.Stops(finish) || finish.Err() != nil {
		t.Errorf("after the stop: %v, %v, %v", storage.Stops(ctx), storage.Stops(finish), finish.Err())
	}
	puts := 0
	s := storage.Wrap(local.New(t.TempDir()), func(op *storage.Op, call func() error) error {
		if op.Name == "put" {
			puts++
			return errors.New("reset")
		}
		return call()
	})
	if _, err := storage.Put(finish, s, "k", nil); err == nil || puts != 1 {
		t.Errorf("%v after %d puts", err, puts)
	}
}
