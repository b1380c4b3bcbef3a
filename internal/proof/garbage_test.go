package proof

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// eachPolicy runs a test under each policy for bad records.
func eachPolicy(t *testing.T, j *judge, source string, test func(t *testing.T, s *site, policy string)) {
	t.Helper()
	for _, policy := range []string{"fail", "skip", "quarantine"} {
		t.Run(policy, func(t *testing.T) {
			test(t, j.site(t, source, noteColumns, "", "on_error: "+policy, "batch: {max_files: 1}"), policy)
		})
	}
}

// getPast runs a pipeline over bad records, which under fail end the run, with a message, until another policy is chosen.
func (s *site) getPast(t *testing.T, source, policy string, bad int64, says ...string) *process {
	t.Helper()
	if policy == "fail" {
		wants(t, run(t, 1, "run", s.file), append(says, "set on_error to skip or quarantine")...)
		s.configure(t, pipelineName, source, noteColumns, "", "on_error: skip", "batch: {max_files: 1}")
	}
	p := s.finish(t)
	counted := s.badRecords(t)
	if bad >= 0 && counted != bad || counted == 0 {
		t.Errorf("%d bad records are counted, want %d", counted, bad)
	}
	if policy == "quarantine" {
		var kept int64
		scan(t, s.quarantine(), []string{"batch_id"}, func(rows arrow.Record) { kept += rows.NumRows() })
		if kept != counted {
			t.Errorf("%d bad records are in the quarantine table, want %d", kept, counted)
		}
	}
	return p
}

// landFile puts a file with these bytes into the landing folder.
func (s *site) landFile(t *testing.T, name string, text []byte) {
	t.Helper()
	must(t, func() error { return os.WriteFile(filepath.Join(s.landing, name), text, 0o666) })
}

func TestOneBadRecordAmongTenThousandIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	const records = 10_000
	eachPolicy(t, j, fileSource, func(t *testing.T, s *site, policy string) {
		p := &producer{}
		for i, at := range []int{0, records / 2, records - 1} {
			values := slices.Insert(p.next(records-1), at, []byte(badNote(int64(i))))
			s.landFile(t, fmt.Sprintf("%d.ndjson", i), append(bytes.Join(values, []byte("\n")), '\n'))
		}
		s.getPast(t, fileSource, policy, 3, "bad record: landing/0.ndjson line 1: field id: a string where long is expected")
		if policy == "quarantine" {
			p.bad = 3
		}
		s.check(t, p)
	})
	j.judge(t)
}

// garbage are files that hold no notes, and how many bad records they are; -1: some.
var garbage = []struct {
	name string
	text []byte
	bad  int64
}{
	{"random", randomBytes(256 << 10), -1},
	{"other shape", []byte("17\n\"text\"\n{\"id\":\"x\"}\nnull\n[1,2]\n{\"id\":{\"id\":1}}\n"), 6},
	{"array of another shape", []byte("[\n{\"x\":1},\n{\"id\":\"2\"},\n[3]\n]\n"), 3},
	{"utf-16", utf16Bytes("{\"id\":1}\n{\"id\":2}\n"), -1},
	{"zero bytes", make([]byte, 100_000), 1},
}

func randomBytes(n int) []byte {
	source := rand.NewChaCha8([32]byte{1})
	text := make([]byte, n)
	_, _ = source.Read(text) // never fails
	return text
}

// utf16Bytes is a text as some editors and exports write it: little endian, with a byte order mark.
func utf16Bytes(text string) []byte {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return b
}

func TestFilesOfGarbageAreBadRecordsAndNothingElse(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, g := range garbage {
		t.Run(strings.ReplaceAll(g.name, " ", "-"), func(t *testing.T) {
			eachPolicy(t, j, fileSource, func(t *testing.T, s *site, policy string) {
				p := &producer{}
				must(t, func() error { return p.land(s.landing, 20) })
				s.landFile(t, "000001a.ndjson", g.text)
				s.landFile(t, "empty.ndjson", nil)
				s.landFile(t, "blank.ndjson", []byte("\n\r\n  \n"))
				s.landFile(t, "without a line feed at the end.ndjson", bytes.Join(p.next(3), []byte("\n")))
				must(t, func() error { return p.land(s.landing, 20) })
				s.getPast(t, fileSource, policy, g.bad, "bad record: landing/000001a.ndjson line ")
				s.check(t, p)
			})
		})
	}
	j.judge(t)
}

// damaged are compressed files that cannot be read to their end, made of whole ones.
var damaged = []struct {
	name, suffix string
	encode       func([]byte) []byte
	harm         func([]byte) []byte
}{
	{"gzip cut in half", ".gz", gzipped, func(b []byte) []byte { return b[:len(b)/2] }},
	{"gzip cut before its checksum", ".gz", gzipped, func(b []byte) []byte { return b[:len(b)-8] }},
	{"gzip damaged in the middle", ".gz", gzipped, flipped},
	{"zstd cut in half", ".zst", zstandard, func(b []byte) []byte { return b[:len(b)/2] }},
	{"zstd damaged in the middle", ".zst", zstandard, flipped},
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // into memory
	_ = w.Close()
	return b.Bytes()
}

func zstandard(text []byte) []byte {
	w, _ := zstd.NewWriter(nil) // only options can be wrong
	return w.EncodeAll(text, nil)
}

func flipped(b []byte) []byte {
	b = slices.Clone(b)
	b[len(b)/2] ^= 0xff
	return b
}

// TestCompressedFileThatIsDamagedStopsTheRunUntilItIsReplaced follows the way out that the error names. Under no policy is a
// part of such a file taken for the whole: how many records it lacks nobody knows.
func TestCompressedFileThatIsDamagedStopsTheRunUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, d := range damaged {
		t.Run(strings.ReplaceAll(d.name, " ", "-"), func(t *testing.T) {
			eachPolicy(t, j, fileSource, func(t *testing.T, s *site, policy string) {
				p := &producer{}
				must(t, func() error { return p.land(s.landing, 20) })
				s.finish(t)
				name := "notes.ndjson" + d.suffix
				whole := d.encode(append(bytes.Join(p.next(5000), []byte("\n")), '\n'))
				s.landFile(t, name, d.harm(whole))
				wants(t, run(t, 1, "run", s.file), "read landing/"+name, "the file is cut short or damaged", "put a whole one in its place", "offsets folder")
				// A death of the run is no way around it.
				run(t, 1, "run", s.file)
				must(t, func() error { return os.Remove(filepath.Join(s.landing, name)) })
				s.landFile(t, name, whole)
				wants(t, run(t, exitLost, "run", s.file), "the file was planned with", "delete this batch's plan")
				must(t, func() error { return os.Remove(last(s.plans(t))) })
				s.finish(t)
				s.check(t, p)
			})
		})
	}
	j.judge(t)
}

func TestLineOfGigabytesIsOneBadRecordInLittleMemory(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	long := either(t, int64(200<<20), 2<<30)
	source := fileSource + "\n  format: {json: {max_record_bytes: 1MiB}}"
	eachPolicy(t, j, source, func(t *testing.T, s *site, policy string) {
		p := &producer{}
		notes := bytes.Join(p.next(3), []byte("\n"))
		for name, before := range map[string]string{"first": "", "behind others": string(notes) + "\n"} {
			s.landHole(t, name+".ndjson", before+`{"id":-1,"text":"`, long, "\"}\n")
		}
		must(t, func() error { return p.land(s.landing, 20) })
		peak := s.getPast(t, source, policy, 2, "is longer than").peakBytes()
		t.Logf("%d MB at most in memory for lines of %d MB", peak>>20, long>>20)
		if most := int64(150 << 20); peak > most {
			t.Errorf("peak memory %d bytes, want at most %d", peak, most)
		}
		s.check(t, p)
	})
	j.judge(t)
}

// landHole lands a file with a hole of zero bytes in it, which takes no space on the disk.
func (s *site) landHole(t *testing.T, name, before string, hole int64, after string) {
	t.Helper()
	s.landFile(t, name, []byte(before))
	f, err := os.OpenFile(filepath.Join(s.landing, name), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(after), int64(len(before))+hole); err != nil {
		t.Fatal(err)
	}
}
