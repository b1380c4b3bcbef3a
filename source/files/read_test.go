package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// counted counts operations by name.
func counted(s storage.Store, counts map[string]*int) storage.Store {
	var mu sync.Mutex
	return storage.Wrap(s, func(op *storage.Op, call func() error) error {
		if n := counts[op.Name]; n != nil {
			mu.Lock()
			*n++
			mu.Unlock()
		}
		return call()
	})
}

func gzipOf(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func zstdOf(tb testing.TB, text string) string {
	tb.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// numbered is n lines, and what records returns for them.
func numbered(path string, n int) (text string, want []string) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "record %d\n", i)
		want = append(want, fmt.Sprintf("%s:%d:record %d", path, i+1, i))
	}
	return b.String(), want
}

func planAll(tb testing.TB, in storage.Store) (*Source, []offsetlog.Range) {
	tb.Helper()
	s := open(tb, in, nil)
	restore(tb, s, nil)
	return s, next(tb, s, source.Limits{}).Ranges
}

func TestCompressedFilesAreDecoded(t *testing.T) {
	text, want := numbered("landing/NAME", 20_000)
	half := len(text) / 2
	for name, content := range map[string]string{
		"plain.json":        text,
		"a.json.gz":         gzipOf(t, text),
		"a.GZ":              gzipOf(t, text),
		"members.gz":        gzipOf(t, text[:half]) + gzipOf(t, "") + gzipOf(t, text[half:]),
		"a.json.zst":        zstdOf(t, text),
		"frames.zst":        zstdOf(t, text[:half]) + zstdOf(t, text[half:]),
		"without_an_ending": text,
	} {
		t.Run(name, func(t *testing.T) {
			in := newFolder(t)
			in.write(t, name, content, at(0))
			s, ranges := planAll(t, in)
			if ranges[0].To != int64(len(content)) {
				t.Errorf("planned %v of %d bytes", ranges[0], len(content))
			}
			got := records(t, s, ranges)
			if diff := cmp.Diff(strings.ReplaceAll(strings.Join(want, "\n"), "NAME", name), strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDamagedCompressedFileIsAnErrorThatSaysWhereAndWhatToDo(t *testing.T) {
	text, _ := numbered("", 100_000)
	gz, zst := gzipOf(t, text), zstdOf(t, text)
	for name, content := range map[string]string{
		"cut.gz":      gz[:len(gz)/2],
		"header.gz":   gz[:5],
		"trailer.gz":  gz[:len(gz)-1],
		"garbage.gz":  gz + "garbage",
		"changed.gz":  gz[:100] + "\x00\x00\x00\x00" + gz[104:],
		"plain.gz":    text,
		"cut.zst":     zst[:len(zst)/2],
		"trailer.zst": zst[:len(zst)-1],
		"garbage.zst": zst + "garbage",
		"plain.zst":   text,
	} {
		t.Run(name, func(t *testing.T) {
			in := newMemory()
			in.write(t, name, content, at(0))
			s, ranges := planAll(t, in)
			_, err := readAll(t.Context(), s, ranges)
			mustContain(t, err, "landing/"+name, "decode", fmt.Sprintf("of %d, after", len(content)), "delete this batch's plan")

			// The decoders are as good as new for the next file.
			in.write(t, "good.gz", gzipOf(t, "fine\n"), at(1))
			in.write(t, "good.zst", zstdOf(t, "fine\n"), at(1))
			s.Advance(0, ranges)
			want := []string{"landing/good.gz:1:fine", "landing/good.zst:1:fine"}
			if diff := cmp.Diff(want, records(t, s, next(t, s, source.Limits{}).Ranges)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadGivesTheSameAgain(t *testing.T) {
	in := newFolder(t)
	in.write(t, "b.gz", gzipOf(t, "1\n2\n3\n4\n"), at(0))
	in.write(t, "a", "1\n2\n", at(1))
	s, ranges := planAll(t, in)
	want := []string{"landing/b.gz:1:1", "landing/b.gz:2:2", "landing/b.gz:3:3", "landing/b.gz:4:4", "landing/a:1:1", "landing/a:2:2"}
	for range 2 {
		if diff := cmp.Diff(want, records(t, s, ranges)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFileThatChangedAfterItsPlanIsAnError(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, in folder)
		says   string
	}{
		"longer":        {func(t *testing.T, in folder) { in.write(t, "a", "one\ntwo\n", at(0)) }, "has 8 bytes"},
		"shorter":       {func(t *testing.T, in folder) { in.write(t, "a", "o\n", at(0)) }, "has 2 bytes"},
		"empty":         {func(t *testing.T, in folder) { in.write(t, "a", "", at(0)) }, "has 0 bytes"},
		"another time":  {func(t *testing.T, in folder) { in.write(t, "a", "two\n", at(1)) }, "modified 2026-05-01T12:00:01.123456789Z"},
		"gone":          {func(t *testing.T, in folder) { _ = in.Delete(t.Context(), "a") }, "is gone"},
		"a folder, now": {func(t *testing.T, in folder) { _ = in.Delete(t.Context(), "a"); in.write(t, "a/b", "x", at(0)) }, "landing/a"},
	}
	for name, test := range tests {
		t.Run(name+" before it is read", func(t *testing.T) {
			in := newFolder(t)
			in.write(t, "a", "one\n", at(0))
			s, ranges := planAll(t, in)
			test.change(t, in)
			_, err := readAll(t.Context(), s, ranges)
			mustContain(t, err, "read landing/a", test.says)
			var changed *ChangedError
			if name != "a folder, now" && !errors.As(err, &changed) {
				t.Errorf("%T is no ChangedError", err)
			}
		})
		t.Run(name+" while it is read", func(t *testing.T) {
			in := newFolder(t)
			in.write(t, "a", "one\n", at(0))
			changing := storage.Wrap(in, func(op *storage.Op, call func() error) error {
				err := call()
				if op.Name == "read" {
					test.change(t, in)
				}
				return err
			})
			s, ranges := planAll(t, changing)
			_, err := readAll(t.Context(), s, ranges)
			mustContain(t, err, "read landing/a", test.says)
		})
	}
}

func TestFileCutShortWhileItIsDecodedIsSaidToHaveChanged(t *testing.T) {
	in := newMemory()
	text, _ := numbered("", 1000)
	content := gzipOf(t, text)
	in.write(t, "a.gz", content, at(0))
	cut := storage.Wrap(in, func(op *storage.Op, call func() error) error {
		err := call()
		if op.Name == "stat" {
			in.write(t, "a.gz", content[:len(content)-10], at(0))
		}
		return err
	})
	s, ranges := planAll(t, cut)
	_, err := readAll(t.Context(), s, ranges)
	var changed *ChangedError
	if !errors.As(err, &changed) {
		t.Errorf("read gives %v", err)
	}
}

func TestErrorOfEmitIsReturnedAsItIs(t *testing.T) {
	in := newMemory()
	in.write(t, "a", "one\n", at(0))
	in.write(t, "b", "two\n", at(1))
	s, ranges := planAll(t, in)
	enough := errors.New("enough")
	calls := 0
	_, err := s.Read(t.Context(), ranges, func(*source.Block) error { calls++; return enough })
	if err != enough || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	in := newMemory()
	text, _ := numbered("", 100_000)
	in.write(t, "a.gz", gzipOf(t, text), at(0))
	s, ranges := planAll(t, in)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := s.Read(ctx, ranges, func(*source.Block) error { calls++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v after %d blocks", err, calls)
	}
}

func TestErrorOfTheStoreIsNotTakenForADamagedFile(t *testing.T) {
	in := newMemory()
	in.write(t, "a.gz", gzipOf(t, "one\n"), at(0))
	ioErr := errors.New("input/output error")
	s, ranges := planAll(t, storage.Wrap(in, func(op *storage.Op, call func() error) error {
		if op.Name == "read" {
			return ioErr
		}
		return call()
	}))
	_, err := readAll(t.Context(), s, ranges)
	mustContain(t, err, "read landing/a.gz: at byte 0 of ")
	if !errors.Is(err, ioErr) || strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

func TestRangesOfAnotherSourceAreRefused(t *testing.T) {
	s := open(t, newMemory(), nil)
	for name, r := range map[string]offsetlog.Range{
		"a topic":      {Partition: "orders/0", ID: "b1a5c8b0", From: 0, To: 10},
		"not whole":    {Partition: "landing/a", ID: "12", From: 1, To: 10},
		"empty":        {Partition: "landing/a", ID: "12"},
		"another path": {Partition: "elsewhere/a", ID: "12", To: 10},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(t.Context(), s, []offsetlog.Range{r})
			mustContain(t, err, r.Partition)
		})
	}
}

func TestSampleIsTheFirstRecords(t *testing.T) {
	in := newMemory()
	in.write(t, "b.gz", gzipOf(t, "1\n2\n3\n4\n"), at(0))
	in.write(t, "a", "5\n6\n7\n8\n", at(1))
	in.write(t, "c", "never read\n", at(2))
	for n, want := range map[int]string{0: "", 2: "1 2", 3: "1 2 3", 4: "1 2 3 4", 6: "1 2 3 4 5 6", 99: "1 2 3 4 5 6 7 8 never read"} {
		var got []string
		err := Sample(t.Context(), Config{Store: in, Framer: lines{3}}, n, func(b *source.Block) error {
			if len(b.Values) != len(b.Positions) {
				return fmt.Errorf("%d values with %d positions", len(b.Values), len(b.Positions))
			}
			for _, v := range b.Values {
				got = append(got, string(v))
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("first %d: %q, %v", n, got, err)
		}
	}
}
