package storage_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
)

func TestManyObjectsAreDescribedInTheOrderOfTheirKeys(t *testing.T) {
	folder := local.New(t.TempDir())
	t.Cleanup(func() { folder.Close() })
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("%03d", i))
		if i%3 == 0 {
			continue
		}
		if _, err := folder.PutIfAbsent(t.Context(), keys[i], []byte(strings.Repeat("x", i))); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := storage.StatAll(t.Context(), folder, keys)
	if err != nil || len(infos) != len(keys) {
		t.Fatal(len(infos), err)
	}
	for i, info := range infos {
		if i%3 == 0 && info != (storage.Info{}) || i%3 != 0 && (info.Key != keys[i] || info.Size != int64(i)) {
			t.Errorf("%s: %+v", keys[i], info)
		}
	}

	broken := errors.New("broken")
	var asked atomic.Int64
	failing := storage.Wrap(folder, func(op *storage.Op, call func() error) error {
		if asked.Add(1); op.Key >= "040" {
			return broken
		}
		return call()
	})
	if _, err := storage.StatAll(t.Context(), failing, keys); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if n := asked.Load(); n < 41 || n > 41+15 {
		t.Errorf("asked for %d objects, and the 41st could not be described", n)
	}
	if infos, err := storage.StatAll(t.Context(), failing, nil); len(infos) != 0 || err != nil {
		t.Errorf("of nothing: %v, %v", infos, err)
	}
}
