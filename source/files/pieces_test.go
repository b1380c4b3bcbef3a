package files

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// inAll reads one file and returns all that is known of its records.
func inAll(tb testing.TB, content string, framer *json.Framer, share, pieceBytes int64) []string {
	tb.Helper()
	in := newMemory()
	in.write(tb, "f", content, at(0))
	account := memory.New(share).Open("fetch", share)
	s := open(tb, in, func(cfg *Config) { cfg.Framer, cfg.Memory, cfg.PieceBytes = framer, account, pieceBytes })
	restore(tb, s, nil)
	var all []string
	_, err := s.Read(tb.Context(), next(tb, s, source.Limits{}).Ranges, func(b *source.Block) error {
		reasons := map[int]string{}
		for _, f := range b.Faults {
			reasons[f.Index] = f.Reason
		}
		for i, v := range b.Values {
			all = append(all, fmt.Sprintf("%s:%d:%q %s", b.Partition, b.Positions[i], v, reasons[i]))
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if room := account.Room(); room != share {
		tb.Errorf("%d bytes are still held", share-room)
	}
	return all
}

// FuzzPieces holds files in pieces of any size against files as one.
func FuzzPieces(f *testing.F) {
	long := strings.Repeat("x", 50)
	for _, seed := range []string{
		"{}\n{}\n", "1\r\n\r\n\n 2", "\xEF\xBB\xBF1\n\xEF\xBB\xBF2\n3", "[1,\n{\"a\":[2]},\n3]\n", "{\n}\n{\n}\n", "\n\n\n\n\n\n",
		long + "\n" + long + long + "\n1\n2\n", "1\n2\n3\n" + long + long + long,
	} {
		for piece := range 12 {
			f.Add([]byte(seed), uint8(piece), uint8(3*piece), uint8(40), uint8(piece))
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, piece, block, longest, layout uint8) {
		if len(content) == 0 {
			return // an empty file is never planned
		}
		framer, err := json.NewFramer(json.FrameOptions{
			Layout:     []json.Layout{json.LayoutAuto, json.LayoutLines, json.LayoutArray, json.LayoutDocument}[layout%4],
			BlockBytes: int(block), BlockRecords: int(block)/8 + 1, MaxRecordBytes: int(longest),
		})
		if err != nil {
			t.Fatal(err)
		}
		want := inAll(t, string(content), framer, 1<<20, 0)
		for _, share := range []int64{1, 1 << 20} {
			if diff := cmp.Diff(want, inAll(t, string(content), framer, share, int64(piece)+1)); diff != "" {
				t.Errorf("in pieces of %d bytes: %s", int(piece)+1, diff)
			}
		}
	})
}

func TestLargeFileIsReadInPiecesSideBySideAndCheckedOnce(t *testing.T) {
	in := newMemory()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "{\"n\":%d}\n", i)
	}
	in.write(t, "f", text.String(), at(0))
	framer, err := json.NewFramer(json.FrameOptions{BlockBytes: 64})
	if err != nil {
		t.Fatal(err)
	}
	opens, stats := 0, 0
	s := open(t, counted(in, map[string]*int{"open": &opens, "stat": &stats}), func(cfg *Config) { cfg.Framer, cfg.PieceBytes = framer, 500 })
	restore(t, s, nil)
	ranges := next(t, s, source.Limits{}).Ranges
	planning := stats
	if jobs, err := s.jobs(ranges); err != nil || len(jobs) != text.Len()/500 {
		t.Errorf("%d jobs for %d bytes, %v", len(jobs), text.Len(), err)
	}
	got := records(t, s, ranges)
	if len(got) != 1000 || got[999] != `landing/f:1000:{"n":999}` {
		t.Errorf("%d records, the last %s", len(got), got[len(got)-1])
	}
	if opens != 1 || stats-planning != 2 {
		t.Errorf("%d opens, %d stats; want 1 and 2", opens, stats-planning)
	}
	if n := s.rates.estimate("f", int64(text.Len())); n < 999 || n > 1000 {
		t.Errorf("%d records are expected of it from now on", n)
	}
}

// TestPiecesAreReadAFewBlocksAhead looks at what is held when all that reads has come as far as it may before the first block is taken.
func TestPiecesAreReadAFewBlocksAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const block, share = 64, 1 << 20
		in := newMemory()
		in.write(t, "f", strings.Repeat("{\"n\":1}\n", 4000), at(0))
		framer, err := json.NewFramer(json.FrameOptions{BlockBytes: block})
		if err != nil {
			t.Fatal(err)
		}
		account := memory.New(share).Open("fetch", share)
		s := open(t, in, func(cfg *Config) { cfg.Framer, cfg.Memory, cfg.PieceBytes = framer, account, 8000 })
		restore(t, s, nil)
		first := true
		if _, err := s.Read(t.Context(), next(t, s, source.Limits{}).Ranges, func(*source.Block) error {
			synctest.Wait()
			const most = 4 * (2 + 2) * block // of each piece two that wait, one that is to wait, and room for the next
			if held := share - account.Room(); first && (held == 0 || held > most) {
				t.Errorf("%d bytes are held before the first block is taken, want at most %d", held, most)
			}
			first = false
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFileInPiecesThatChangesIsAnError(t *testing.T) {
	text := strings.Repeat("{\"n\":1}\n", 1000)
	framer, err := json.NewFramer(json.FrameOptions{BlockBytes: 64})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*inMemory){
		"longer":       func(in *inMemory) { in.write(t, "f", text+"{}\n", at(0)) },
		"shorter":      func(in *inMemory) { in.write(t, "f", text[:4000], at(0)) },
		"another time": func(in *inMemory) { in.write(t, "f", text, at(1)) },
		"gone":         func(in *inMemory) { _ = in.Delete(t.Context(), "f") },
	} {
		for _, during := range []string{"stat", "open", "read"} {
			in := newMemory()
			in.write(t, "f", text, at(0))
			reading := false
			changing := storage.Wrap(in, func(op *storage.Op, call func() error) error {
				err := call()
				if reading && op.Name == during {
					change(in)
				}
				return err
			})
			s := open(t, changing, func(cfg *Config) { cfg.Framer, cfg.PieceBytes = framer, 500 })
			restore(t, s, nil)
			ranges := next(t, s, source.Limits{}).Ranges
			reading = true
			_, err := readAll(t.Context(), s, ranges)
			var changed *ChangedError
			if !errors.As(err, &changed) {
				t.Errorf("%s during %s: %v", name, during, err)
			}
		}
	}
}
