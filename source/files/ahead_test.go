package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// oneAtATime is Read without anything side by side.
func oneAtATime(tb testing.TB, s *Source, jobs []*job) (all []string) {
	tb.Helper()
	for _, j := range jobs {
		err := s.reader.read(tb.Context(), j.file, nil, func(b *source.Block) error {
			for i, v := range b.Values {
				all = append(all, fmt.Sprintf("%s:%d:%s", b.Partition, b.Positions[i], v))
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// TestFilesReadSideBySideAreEmittedInOrder compares with a loop, with memory for many files, for few, and for none but that whose
// turn it is: also for a record that is larger than all of it.
func TestFilesReadSideBySideAreEmittedInOrder(t *testing.T) {
	framer, err := json.NewFramer(json.FrameOptions{BlockBytes: 512, BlockRecords: 20})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	in := newMemory()
	for i := range 60 {
		var text strings.Builder
		for n := range random.IntN(40) + 1 {
			fmt.Fprintf(&text, "{\"n\":%d,\"s\":%q}\n", n, strings.Repeat("x", random.IntN(30)))
		}
		if i%20 == 7 {
			fmt.Fprintf(&text, "{\"s\":%q}\n[]", strings.Repeat("y", 20_000))
		}
		name, content := fmt.Sprintf("f%02d", i), text.String()
		switch i % 5 {
		case 1:
			name, content = name+".gz", gzipOf(t, content)
		case 3:
			name, content = name+".zst", zstdOf(t, content)
		}
		in.write(t, name, content, at(i))
	}
	for _, share := range []int64{1, 3_000, 1 << 30} {
		account := memory.New(share).Open("fetch", share)
		s := open(t, in, func(cfg *Config) { cfg.Framer, cfg.Memory = framer, account })
		restore(t, s, nil)
		ranges := next(t, s, source.Limits{}).Ranges
		jobs, err := s.jobs(ranges)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(oneAtATime(t, s, jobs), records(t, s, ranges)); diff != "" {
			t.Errorf("memory for %d bytes: %s", share, diff)
		}
		if room := account.Room(); room != share {
			t.Errorf("memory for %d bytes: %d are still held", share, share-room)
		}
	}
}

func TestErrorIsThatOfTheFirstFileAndWhatWasReadAheadIsReleased(t *testing.T) {
	in := newMemory()
	for i := range 8 {
		in.write(t, fmt.Sprintf("f%d", i), "1\n2\n", at(i))
	}
	broken := storage.Wrap(in, func(op *storage.Op, call func() error) error {
		if op.Name == "read" && op.Key != "f0" && op.Key != "f1" {
			return errors.New("cannot read " + op.Key)
		}
		return call()
	})
	account := memory.New(1000).Open("fetch", 1000)
	s := open(t, broken, func(cfg *Config) { cfg.Memory = account })
	restore(t, s, nil)
	got, err := readAll(t.Context(), s, next(t, s, source.Limits{}).Ranges)
	mustContain(t, err, "cannot read f2")
	if want := []string{"landing/f0:1:1", "landing/f0:2:2", "landing/f1:1:1", "landing/f1:2:2"}; !slices.Equal(want, got) {
		t.Errorf("%v was emitted", got)
	}
	if room := account.Room(); room != 1000 {
		t.Errorf("%d bytes are still held", 1000-room)
	}
}

// allAtOnce holds each operation of that name until as many have begun as files may be read at once.
func allAtOnce(s storage.Store, name string) storage.Store {
	var mu sync.Mutex
	begun, all := 0, make(chan struct{})
	return storage.Wrap(s, func(op *storage.Op, call func() error) error {
		if op.Name == name {
			mu.Lock()
			if begun++; begun == atOnce {
				close(all)
			}
			mu.Unlock()
			<-all
		}
		return call()
	})
}

func TestSmallFilesAreReadAtOnce(t *testing.T) {
	in := newMemory()
	for i := range 2 * atOnce {
		in.write(t, fmt.Sprintf("f%02d", i), "1\n", at(i))
	}
	s, ranges := planAll(t, allAtOnce(in, "read"))
	if got := records(t, s, ranges); len(got) != 2*atOnce {
		t.Errorf("%d records", len(got))
	}
}

func TestFilesOfAnEarlierListingAreLookedAtAtOnce(t *testing.T) {
	in := newMemory()
	for i := range 2*atOnce + 1 {
		in.write(t, fmt.Sprintf("f%02d", i), "1\n", at(i))
	}
	s := open(t, allAtOnce(in, "stat"), nil)
	restore(t, s, nil)
	limits := source.Limits{MaxFiles: int64(atOnce)}
	s.Advance(0, next(t, s, limits).Ranges)
	if planned := next(t, s, limits); len(planned.Ranges) != atOnce || planned.Ranges[0].Partition != fmt.Sprintf("landing/f%02d", atOnce) {
		t.Errorf("planned %v", planned.Ranges)
	}
}

func TestReadThatIsStoppedReleasesWhatItReadAhead(t *testing.T) {
	in := newMemory()
	for i := range 40 {
		in.write(t, fmt.Sprintf("f%02d", i), strings.Repeat("1\n", 1000), at(i))
	}
	var mu sync.Mutex
	held := 0
	s := open(t, in, func(cfg *Config) {
		cfg.Framer = counting{cfg.Framer.(lines), func(n int) { mu.Lock(); held += n; mu.Unlock() }}
	})
	restore(t, s, nil)
	ranges := next(t, s, source.Limits{}).Ranges
	ctx, cancel := context.WithCancel(t.Context())
	blocks := 0
	_, err := s.Read(ctx, ranges, func(*source.Block) error {
		if blocks++; blocks == 500 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v after %d blocks", err, blocks)
	}
	if held != 0 {
		t.Errorf("%d blocks are still held", held)
	}
}

// counting tells how many blocks are held.
type counting struct {
	lines
	held func(n int)
}

func (c counting) Frame(r io.Reader, emit func(*source.Block) error) error {
	return c.lines.Frame(r, func(b *source.Block) error {
		c.held(1)
		b.Free = func() { c.held(-1) }
		return emit(b)
	})
}
