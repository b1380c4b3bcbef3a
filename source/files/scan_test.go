package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/source"
)

func TestFilesArePlannedOldestFirst(t *testing.T) {
	in := newFolder(t)
	in.write(t, "z.json", "old\n", at(1))
	in.write(t, "sub/folder/a.json", "new\n", at(3))
	in.write(t, "b.json", "same\n", at(2))
	in.write(t, "a.json", "same\n", at(2))
	s := open(t, in, nil)
	restore(t, s, nil)
	planned := next(t, s, source.Limits{})
	want := []string{"landing/z.json", "landing/a.json", "landing/b.json", "landing/sub/folder/a.json"}
	if diff := cmp.Diff(want, partitions(planned)); diff != "" {
		t.Error(diff)
	}
	if planned.Bytes != 18 || planned.More {
		t.Errorf("planned %+v", planned)
	}
	if r := planned.Ranges[0]; r.ID != "1777636801123456789" || r.From != 0 || r.To != 4 {
		t.Errorf("range %+v", r)
	}
}

func TestNamesKeepTheirSpacesAndLetters(t *testing.T) {
	in := newFolder(t)
	names := []string{"with space.json", "ünï/çødé 😀.json", "100%.json", "a#b?c.json", "new\nline.json", `back\slash.json`, "part-0.json"}
	for i, name := range names {
		in.write(t, name, name[:1]+"\n", at(i))
	}
	s := open(t, in, nil)
	restore(t, s, nil)
	planned := next(t, s, source.Limits{})
	if len(planned.Ranges) != len(names) {
		t.Fatalf("planned %q", partitions(planned))
	}
	for i, name := range names {
		if planned.Ranges[i].Partition != "landing/"+name {
			t.Errorf("planned %q as %q", name, planned.Ranges[i].Partition)
		}
	}
	if got := records(t, s, planned.Ranges); len(got) != len(names) {
		t.Errorf("read %q", got)
	}
}

func TestNameThatNoPlanCanHoldIsAnError(t *testing.T) {
	in := newMemory()
	in.write(t, "bad\xff.json", "x\n", at(0))
	s := open(t, in, nil)
	restore(t, s, nil)
	_, err := s.Next(t.Context(), source.Limits{})
	mustContain(t, err, `bad\xff.json`, "rename")
}

func TestWhatIsStillBeingWrittenIsLeftAlone(t *testing.T) {
	in := newFolder(t)
	for _, name := range []string{"_tmp/a.json", ".hidden.json", "b.json.tmp", "c.part.gz", "d.json~"} {
		in.write(t, name, "x\n", at(0))
	}
	in.write(t, "empty.json", "", at(0))
	in.write(t, "young.json", "x\n", at(3595))
	in.write(t, "old.json", "x\n", at(3590))
	now := at(3600)
	s := open(t, in, func(c *Config) {
		c.Settle = 10 * time.Second
		c.Now = func() time.Time { return now }
	})
	restore(t, s, nil)
	planned := next(t, s, source.Limits{})
	if diff := cmp.Diff([]string{"landing/old.json"}, partitions(planned)); diff != "" {
		t.Fatal(diff)
	}
	lag, err := s.Lag(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Lag{{
		Partition: "landing/**", Position: 0, End: 2,
		Note: "4 bytes to read, 1 files younger than 10s, 1 empty files, 5 files with temporary names",
	}}
	if diff := cmp.Diff(want, lag); diff != "" {
		t.Error(diff)
	}
	s.Advance(0, planned.Ranges)
	if lag, _ := s.Lag(t.Context()); lag[0].Position != 1 || lag[0].End != 2 {
		t.Errorf("after the batch: %+v", lag)
	}

	now = at(3605)
	in.write(t, "empty.json", "no more\n", at(3594))
	if err := os.Rename(filepath.Join(in.URL(), "b.json.tmp"), filepath.Join(in.URL(), "b.json")); err != nil {
		t.Fatal(err)
	}
	want2 := []string{"landing/b.json", "landing/empty.json", "landing/young.json"}
	if diff := cmp.Diff(want2, partitions(next(t, s, source.Limits{}))); diff != "" {
		t.Error(diff)
	}
}

func TestFileFromTheFutureIsSaidOnce(t *testing.T) {
	in := newMemory()
	in.write(t, "a.json", "x\n", at(7200))
	s := open(t, in, func(c *Config) { c.Settle = time.Second })
	restore(t, s, nil)
	planned := next(t, s, source.Limits{})
	if len(planned.Ranges) != 0 || len(planned.Notices) != 1 {
		t.Fatalf("planned %+v", planned)
	}
	if planned = next(t, s, source.Limits{}); len(planned.Notices) != 0 {
		t.Errorf("said again: %q", planned.Notices)
	}
}

func TestPatternThatFindsNothingIsSaid(t *testing.T) {
	in := newFolder(t)
	in.write(t, "a.csv", "x\n", at(0))
	s := open(t, in, func(c *Config) { c.Pattern = "*.json" })
	restore(t, s, nil)
	if got := next(t, s, source.Limits{}).Notices; len(got) != 1 || got[0] != "no file matches landing/*.json in "+in.URL() {
		t.Errorf("notices %q", got)
	}
	in.write(t, "a.json", "x\n", at(0))
	s.Advance(0, next(t, s, source.Limits{}).Ranges)
	if err := in.Delete(t.Context(), "a.json"); err != nil {
		t.Fatal(err)
	}
	if got := next(t, s, source.Limits{}).Notices; len(got) != 0 {
		t.Errorf("notices %q of a folder that was tidied up", got)
	}
}

func TestLimits(t *testing.T) {
	in := newMemory()
	for i, name := range []string{"a", "b", "c", "d"} {
		in.write(t, name, "0123456789\n0123456789\n", at(i))
	}
	in.write(t, "e", string(make([]byte, 5000)), at(9))
	tests := []struct {
		name   string
		limits source.Limits
		files  int
		more   bool
	}{
		{"none", source.Limits{}, 5, false},
		{"files", source.Limits{MaxFiles: 2}, 2, true},
		{"bytes, exactly", source.Limits{MaxBytes: 66}, 3, true},
		{"bytes, one less", source.Limits{MaxBytes: 65}, 2, true},
		{"at least one file", source.Limits{MaxBytes: 1, MaxFiles: 1, MaxRecords: 1}, 1, true},
		{"records, by a guess", source.Limits{MaxRecords: 3}, 3, true},
		{"all that there is", source.Limits{MaxFiles: 5, MaxBytes: 10_000, MaxRecords: 1000}, 5, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, in, nil)
			restore(t, s, nil)
			planned := next(t, s, test.limits)
			if len(planned.Ranges) != test.files || planned.More != test.more {
				t.Errorf("%d files, more %v; want %d, %v", len(planned.Ranges), planned.More, test.files, test.more)
			}
		})
	}
}

func TestRecordsAreEstimatedByWhatWasRead(t *testing.T) {
	in := newMemory()
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		in.write(t, name, "012345678\n012345678\n", at(i)) // 10 bytes a record
	}
	s := open(t, in, nil)
	restore(t, s, nil)
	first := next(t, s, source.Limits{MaxFiles: 1})
	records(t, s, first.Ranges)
	s.Advance(0, first.Ranges)
	planned := next(t, s, source.Limits{MaxRecords: 5})
	if len(planned.Ranges) != 2 || planned.Records != 4 {
		t.Errorf("planned %+v", planned)
	}
}

func TestOneListingServesManyBatches(t *testing.T) {
	in := newMemory()
	for i := range 10 {
		in.write(t, string(rune('a'+i)), "x\n", at(i))
	}
	var lists, stats int
	s := open(t, counted(in, map[string]*int{"list": &lists, "stat": &stats}), nil)
	restore(t, s, nil)
	for batch := range 4 {
		planned := next(t, s, source.Limits{MaxFiles: 2})
		s.Advance(int64(batch), planned.Ranges)
	}
	if lists != 1 || stats != 6 {
		t.Errorf("%d listings and %d stats for 4 batches", lists, stats)
	}
	// The last whole batch has nothing left behind it, so that it might miss a new file: the folder is listed again.
	in.write(t, "new", "x\n", at(-1))
	if got := partitions(next(t, s, source.Limits{MaxFiles: 2})); got[0] != "landing/new" || lists != 2 {
		t.Errorf("planned %q after %d listings", got, lists)
	}
}

func TestFileThatChangesBetweenListingAndPlanIsListedAgain(t *testing.T) {
	in := newMemory()
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		in.write(t, name, "x\n", at(i))
	}
	s := open(t, in, nil)
	restore(t, s, nil)
	s.Advance(0, next(t, s, source.Limits{MaxFiles: 1}).Ranges)
	in.write(t, "b", "other\n", at(1))
	if err := in.Delete(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	planned := next(t, s, source.Limits{MaxFiles: 2})
	if diff := cmp.Diff([]string{"landing/b", "landing/d"}, partitions(planned)); diff != "" {
		t.Fatal(diff)
	}
	if planned.Ranges[0].To != 6 {
		t.Errorf("planned %v", planned.Ranges[0])
	}
}

func TestOverwrittenFiles(t *testing.T) {
	start := func(t *testing.T, o Overwritten) (*inMemory, *Source) {
		in := newMemory()
		in.write(t, "a", "one\n", at(1))
		s := open(t, in, func(c *Config) { c.Overwritten = o })
		restore(t, s, nil)
		s.Advance(0, next(t, s, source.Limits{}).Ranges)
		in.write(t, "a", "other\n", at(2))
		return in, s
	}
	t.Run("error", func(t *testing.T) {
		in, s := start(t, "")
		_, err := s.Next(t.Context(), source.Limits{})
		mustContain(t, err, "landing/a", "4 bytes, modified 2026-05-01T12:00:01.123456789Z", "6 bytes, modified 2026-05-01T12:00:02.123456789Z",
			"error", "ignore", "reprocess")
		in.write(t, "a", "one\n", at(1))
		if planned := next(t, s, source.Limits{}); len(planned.Ranges) > 0 {
			t.Errorf("planned %v when the file was back", planned.Ranges)
		}
	})
	t.Run("ignore", func(t *testing.T) {
		_, s := start(t, OverwrittenIgnore)
		planned := next(t, s, source.Limits{})
		if len(planned.Ranges) > 0 || len(planned.Notices) != 1 {
			t.Errorf("planned %+v", planned)
		}
	})
	t.Run("reprocess", func(t *testing.T) {
		_, s := start(t, OverwrittenReprocess)
		planned := next(t, s, source.Limits{})
		if diff := cmp.Diff([]string{"landing/a:1:other"}, records(t, s, planned.Ranges)); diff != "" {
			t.Error(diff)
		}
		s.Advance(1, planned.Ranges)
		if planned := next(t, s, source.Limits{}); len(planned.Ranges) > 0 {
			t.Errorf("planned %v twice", planned.Ranges)
		}
	})
}

func TestAllFaultsOfTheSettingsAreSaidAtOnce(t *testing.T) {
	_, err := New(Config{Pattern: "a**", Settle: -1, Overwritten: "perhaps"})
	mustContain(t, err, "no store of the landing folder", "no framer", "no store for the seen log", "settle is -1ns",
		`"perhaps"; write error, ignore or reprocess`, "stand alone")
}

func TestPathOfTheNamesInPlans(t *testing.T) {
	for root, want := range map[string]string{"": "x/a", ".": "x/a", "in": "in/x/a", "/": "/x/a", "/data/in/": "/data/in/x/a"} {
		n := naming{root}
		if got := n.partition("x/a"); got != want {
			t.Errorf("%q under %q is %q", "x/a", root, got)
		}
		if key, err := n.key(want); key != "x/a" || err != nil {
			t.Errorf("%q under %q is key %q, %v", want, root, key, err)
		}
	}
}

func TestPathThatIsWrittenOtherwiseIsSaid(t *testing.T) {
	in := newMemory()
	in.write(t, "a.json", "x\n", at(0))
	s := open(t, in, nil)
	restore(t, s, nil)
	ranges := next(t, s, source.Limits{}).Ranges
	for root, said := range map[string]int{"landing": 0, "elsewhere/landing": 1} {
		again := open(t, in, func(c *Config) { c.DisplayRoot = root })
		restore(t, again, []plan{{0, ranges}})
		notices := next(t, again, source.Limits{}).Notices
		if len(notices) != said || said == 1 && !strings.Contains(notices[0], "landing/a.json was read") {
			t.Errorf("%s: notices %q", root, notices)
		}
	}
}
