package commitlog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// monday is when the first commit of a daily log was made; each version is made a day after the one before.
var monday = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// daily is a log with a commit a day, and log checkpoints in JSON.
type daily struct {
	*memStore
	lines []string          // of the commits so far
	txns  map[string]string // of these, the newest of each application
}

func newDaily(protocol, configuration string, commits int, checkpoints ...int) *daily {
	d := &daily{memStore: newMemStore(), txns: map[string]string{}}
	d.modified = map[string]time.Time{}
	for v := range commits {
		lines := []string{lineAdd(fmt.Sprint("f", v)), lineTxn("live", int64(v))}
		if v == 0 {
			lines = append(lines, protocol, strings.Replace(lineMetadata, `"configuration":{}`, `"configuration":{`+configuration+`}`, 1))
		}
		d.commit(v, lines...)
		if slices.Contains(checkpoints, v) {
			d.checkpoint(v)
		}
	}
	return d
}

func (d *daily) commit(v int, lines ...string) {
	for _, line := range lines {
		if app, is := strings.CutPrefix(line, `{"txn":{"appId":`); is {
			d.txns[strings.Split(app, ",")[0]] = line
		} else if !strings.HasPrefix(line, `{"commitInfo"`) {
			d.lines = append(d.lines, line)
		}
	}
	d.write(int64(v), lines...)
	d.made(fmt.Sprintf("%020d.json", v), v)
}

// checkpoint puts a log checkpoint of the commits so far.
func (d *daily) checkpoint(v int, more ...string) {
	lines := slices.Concat(d.lines, slices.Collect(maps.Values(d.txns)), more)
	d.file(fmt.Sprintf("%020d.checkpoint.x.json", v), v, strings.Join(lines, "\n"))
}

func (d *daily) file(name string, v int, body string) {
	d.put(name, body)
	d.made(name, v)
}

func (d *daily) made(name string, v int) {
	d.modified[path.Join(logDir, name)] = monday.AddDate(0, 0, v)
}

// on is the evening of the day of a version.
func on(v int) CleanupOptions { return CleanupOptions{Now: monday.AddDate(0, 0, v).Add(8 * time.Hour)} }

// names are those of the files in the log, in order.
func (d *daily) names() (names []string) {
	for key := range d.objects {
		names = append(names, shortName(key))
	}
	slices.Sort(names)
	return names
}

// shortName has a # for the first 18 digits of a version.
func shortName(key string) string {
	return strings.ReplaceAll(strings.TrimPrefix(key, logDir), strings.Repeat("0", 18), "#")
}

func (d *daily) plan(t *testing.T, o CleanupOptions) *Cleanup {
	t.Helper()
	c, err := New(d).PlanCleanup(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const days3 = `"delta.logRetentionDuration":"interval 3 days","delta.deletedFileRetentionDuration":"interval 0 days"`

func TestWhereACleanedUpLogBegins(t *testing.T) {
	const (
		protect = `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["checkpointProtection"]}}`
		none    = "there is no log checkpoint as old as that"
	)
	for name, tt := range map[string]struct {
		protocol, configuration string
		checkpoints             []int
		change                  func(*daily)
		from                    int64
		why                     string
		damaged                 int
	}{
		"the newest log checkpoint that is old enough":           {"", days3, []int{2, 4, 8}, nil, 4, "", 0},
		"it may be as old as the newest commit that is":          {"", days3, []int{2, 6}, nil, 6, "", 0},
		"a younger one is none":                                  {"", days3, []int{7, 8}, nil, -1, none, 0},
		"30 days unless the table says otherwise":                {"", "", []int{2, 4}, nil, -1, none, 0},
		"no less than removed files stay":                        {"", `"delta.logRetentionDuration":"interval 3 days"`, []int{1, 2, 4}, nil, 2, "", 0},
		"no less than an hour":                                   {"", `"delta.logRetentionDuration":"interval 0 days","delta.deletedFileRetentionDuration":"interval 0 days"`, []int{8, 9}, nil, 9, "", 0},
		"not where it is off":                                    {"", days3 + `,"delta.enableExpiredLogCleanup":"False"`, []int{4}, nil, -1, "delta.enableExpiredLogCleanup is false", 0},
		"not where a feature protects it":                        {protect, days3, []int{4}, nil, -1, "the table's feature checkpointProtection keeps it", 0},
		"no further than what _last_checkpoint names":            {"", days3, []int{2, 4}, func(d *daily) { d.put("_last_checkpoint", `{"version":2,"size":3}`) }, 2, "", 0},
		"_last_checkpoint may name what is not there":            {"", days3, []int{2, 4}, func(d *daily) { d.put("_last_checkpoint", `{"version":3,"size":3}`) }, 4, "", 0},
		"_last_checkpoint may be garbage":                        {"", days3, []int{2, 4}, func(d *daily) { d.put("_last_checkpoint", `{`) }, 4, "", 0},
		"a damaged log checkpoint is passed over":                {"", days3, []int{2, 4}, func(d *daily) { d.put("00000000000000000004.checkpoint.x.json", `{`) }, 2, "", 1},
		"one that is empty":                                      {"", days3, []int{2, 4}, func(d *daily) { d.put("00000000000000000004.checkpoint.x.json", ``) }, 2, "", 0},
		"one in parts that lacks one":                            {"", days3, []int{2}, func(d *daily) { d.file("00000000000000000004.checkpoint.0000000001.0000000002.parquet", 4, "PAR1") }, 2, "", 0},
		"one whose sidecar is missing":                           {"", days3, []int{2, 4}, func(d *daily) { d.checkpoint(5, lineSidecar) }, 4, "", 1},
		"all that is old enough is damaged":                      {"", days3, []int{4}, func(d *daily) { d.put("00000000000000000004.checkpoint.x.json", `{`) }, -1, "no log checkpoint as old as that can be read", 1},
		"a commit counts as later than the one before":           {"", days3, []int{2, 4}, func(d *daily) { d.made("00000000000000000003.json", 9) }, 2, "", 0},
		"behind a hole that a log checkpoint hides":              {"", days3, []int{2, 4}, func(d *daily) { d.drop(3) }, 4, "", 0},
		"a commit with a log checkpoint may be missing":          {"", days3, []int{2, 4}, func(d *daily) { d.drop(4) }, 4, "", 0},
		"a log checkpoint of a commit that is the first of all":  {"", days3, []int{0, 7}, nil, 0, "", 0},
		"a log that begins with a log checkpoint of old commits": {"", days3, []int{4}, func(d *daily) { d.drop(0); d.drop(1); d.drop(2) }, 4, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaily(orElse(tt.protocol, lineProtocol), tt.configuration, 11, tt.checkpoints...)
			if tt.change != nil {
				tt.change(d)
			}
			c := d.plan(t, on(10)) // so that version 6 is the newest that is as old as 3 days
			if c.From != tt.from || c.Why != tt.why || len(c.Damaged) != tt.damaged {
				t.Errorf("from %d, %q, damaged %q", c.From, c.Why, c.Damaged)
			}
		})
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

const lineSidecar = `{"sidecar":{"path":"needed.parquet","sizeInBytes":1,"modificationTime":1}}`

func TestInCommitTimestampsTellWhatHasExpired(t *testing.T) {
	const protocol = `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}}`
	d := newDaily(protocol, days3+`,"delta.enableInCommitTimestamps":"true"`, 0)
	for v := range 11 {
		lines := []string{fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d}}`, monday.AddDate(0, 0, v+3).UnixMilli())} // the files are older
		if v == 0 {
			lines = append(lines, protocol, strings.Replace(lineMetadata, `"configuration":{}`, `"configuration":{`+days3+`,"delta.enableInCommitTimestamps":"true"}`, 1))
		}
		d.commit(v, lines...)
		d.checkpoint(v)
	}
	if c := d.plan(t, on(10)); c.From != 3 || c.Why != "" {
		t.Errorf("from %d, %q", c.From, c.Why)
	}
}

func TestCommitsThatApplicationsNeedStay(t *testing.T) {
	build := func(checkpoints ...int) *daily {
		d := newDaily(lineProtocol, days3, 0)
		for v := range 11 {
			lines := []string{lineAdd(fmt.Sprint("f", v)), lineInfo(fmt.Sprint("commit ", v))}
			switch v {
			case 0:
				lines = append(lines, lineProtocol, strings.Replace(lineMetadata, `"configuration":{}`, `"configuration":{`+days3+`}`, 1))
			case 2, 3:
				lines = append(lines, lineTxn("idle", int64(v)), lineTxn("foreign", 7))
			case 4:
				lines = append(lines, lineTxn("dead", 1))
			}
			d.commit(v, lines...)
			if slices.Contains(checkpoints, v) {
				d.checkpoint(v)
			}
		}
		return d
	}
	needs := func(apps ...string) CleanupOptions {
		return CleanupOptions{Now: on(10).Now, Needs: func(app, metadata string) bool {
			if !strings.HasPrefix(metadata, "by commit") {
				t.Errorf("%s said %q", app, metadata)
			}
			return slices.Contains(apps, app)
		}}
	}
	for name, tt := range map[string]struct {
		checkpoints []int
		needs       []string
		from        int64
		holders     string
	}{
		"nobody needs any":                          {[]int{1, 3, 5, 6, 10}, nil, 6, ""},
		"the newest of an idle one":                 {[]int{1, 3, 5, 6, 10}, []string{"idle"}, 3, "idle/3@3"},
		"found in the commits behind a checkpoint":  {[]int{1, 3, 5, 6}, []string{"idle"}, 3, "idle/3@3"},
		"without any checkpoint to begin with":      {[]int{1, 6}, []string{"dead"}, 1, "dead/1@4"},
		"of several, that of the oldest":            {[]int{1, 2, 3, 5, 6, 10}, []string{"idle", "dead"}, 3, "idle/3@3 dead/1@4"},
		"that of the log checkpoint itself":         {[]int{4}, []string{"dead"}, 4, ""},
		"and nothing goes if none comes before it":  {[]int{6, 10}, []string{"idle"}, -1, "idle/3@3"},
		"an application that is idle in the middle": {[]int{2, 6, 8}, []string{"dead"}, 2, "dead/1@4"},
	} {
		t.Run(name, func(t *testing.T) {
			d := build(tt.checkpoints...)
			c := d.plan(t, needs(tt.needs...))
			var holders []string
			for _, h := range c.Holders {
				holders = append(holders, fmt.Sprintf("%s/%d@%d", h.AppID, h.Batch, h.Version))
			}
			if got := strings.Join(holders, " "); c.From != tt.from || got != tt.holders {
				t.Errorf("from %d, held by %s: %s", c.From, got, c.Why)
			}
		})
	}
}

func TestCleanupDeletesTheseFiles(t *testing.T) {
	d := newDaily(lineProtocol, days3, 10, 2, 6, 8)
	for name, body := range map[string]string{
		"#05.checkpoint.parquet": "", "#05.checkpoint.0000000001.0000000002.parquet": "x",
		"#04.crc": "x", "#06.crc": "x", ".#04.json.crc": "x", ".#06.json.crc": "x", ".#04.crc.crc": "x", "._last_checkpoint.crc": "x",
		"#03.#05.compacted.json": "x", "#06.#09.compacted.json": "x", "#07.#09.compacted.json": "x", "#04.#05.compacted.json.bak": "x",
		"_commit_1.json.tmp": "x", ".#04.json.1.tmp": "x", "..#04.json.1.tmp.crc": "x", "#09.json.tmp": "x",
		"0#4.json": "x", "#04.jsonx": "x", "#04": "x", "notes": "x", "_staged_commits/#04.1.json": "x",
		"_sidecars/old.parquet": "x", "_sidecars/.old.parquet.crc": "x", "_sidecars/needed.parquet": "x", "_sidecars/.needed.parquet.crc": "x",
	} {
		d.file(strings.ReplaceAll(name, "#", strings.Repeat("0", 18)), 1, body)
	}
	d.file("_sidecars/young.parquet", 10, "x")
	d.file("_commit_2.json.tmp", 10, "x")
	d.checkpoint(9, lineSidecar)
	before := d.names()
	c := d.plan(t, on(10))
	var planned []string
	err := c.Each(t.Context(), func(files []LogFile) error {
		for _, f := range files {
			planned = append(planned, string(f.Kind)+" "+shortName(f.Key))
		}
		return nil
	})
	if err != nil || !slices.Equal(before, d.names()) {
		t.Fatal(err)
	}
	want := []string{
		"temporary ..#04.json.1.tmp.crc", "checksum .#04.crc.crc", "temporary .#04.json.1.tmp", "checksum .#04.json.crc",
		"commit #00.json", "commit #01.json", "checkpoint #02.checkpoint.x.json", "commit #02.json", "compaction #03.#05.compacted.json", "commit #03.json",
		"checksum #04.crc", "commit #04.json", "checkpoint #05.checkpoint.0000000001.0000000002.parquet", "checkpoint #05.checkpoint.parquet",
		"commit #05.json", "compaction #06.#09.compacted.json",
		"temporary _commit_1.json.tmp", "sidecar _sidecars/.old.parquet.crc", "sidecar _sidecars/old.parquet",
	}
	if diff := cmp.Diff(want, planned); diff != "" {
		t.Error(diff)
	}
	done, err := c.Run(t.Context(), nil)
	if err != nil || done[CommitFile].Files != 6 || done[SidecarFile] != (Deleted{2, 2}) {
		t.Errorf("%v, %v", done, err)
	}
	gone := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(d.names(), name) })
	for i := range want {
		_, want[i], _ = strings.Cut(want[i], " ")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, gone); diff != "" {
		t.Error(diff)
	}
}

// TestCleanedUpLogsAreReadAsBefore cleans up logs of random commits and log checkpoints, and compares what is left with what is said in
// "Metadata Cleanup", taken literally.
func TestCleanedUpLogsAreReadAsBefore(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	cleaned := 0
	for range 100 {
		n := 1 + random.IntN(14)
		var checkpoints []int
		for v := range n {
			if random.IntN(4) == 0 {
				checkpoints = append(checkpoints, v)
			}
		}
		d := newDaily(lineProtocol, days3, n, checkpoints...)
		for v := range n {
			d.made(fmt.Sprintf("%020d.json", v), v+random.IntN(4)-2)
		}
		today := random.IntN(20)
		from := d.literally(n, today-3)
		states := map[int64]string{}
		for _, v := range []int64{max(from, 0), int64(n) - 1} {
			states[v], _ = pathsOf(d.memStore, v)
		}
		before := d.names()
		c := d.plan(t, on(today))
		if _, err := c.Run(t.Context(), nil); err != nil || c.From != from {
			t.Fatalf("on day %d: from %d instead of %d, %v\n%q", today, c.From, from, err, before)
		}
		for v, want := range states {
			if got, err := pathsOf(d.memStore, v); err != nil || got != want {
				t.Fatalf("version %d: %s instead of %s, %v\n%q\n%q", v, got, want, err, before, d.names())
			}
		}
		left := slices.DeleteFunc(before, func(name string) bool { return from >= 0 && name < fmt.Sprintf("#%02d", from) })
		if diff := cmp.Diff(left, d.names()); diff != "" {
			t.Fatal(diff)
		}
		if from > 0 {
			cleaned++
		}
	}
	if cleaned < 10 {
		t.Errorf("only %d logs had something to clean up", cleaned)
	}
}

// literally is the version that a cleaned-up log begins with, of n versions on a day whose midnight is the cutoff; -1 for none.
func (d *daily) literally(n, day int) int64 {
	cutoff := midnight(monday.AddDate(0, 0, day))
	commit, last := -1, time.Time{}
	for v := range n {
		made := d.modified[commitKey(int64(v))]
		if !made.After(last) {
			made = last.Add(time.Millisecond)
		}
		if last = made; made.After(cutoff) {
			break
		}
		commit = v
	}
	for v := commit; v >= 0; v-- {
		if _, there := d.objects[fmt.Sprintf("%s%020d.checkpoint.x.json", logDir, v)]; there {
			return int64(v)
		}
	}
	return -1
}
