package files

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// world is a landing folder, a pipeline that reads it, and a dumb account of both.
type world struct {
	tb   testing.TB
	seed uint64
	rng  *rand.Rand

	in      landing
	now     time.Time
	mode    Overwritten
	files   map[string]content  // what is in the folder
	planned map[string]identity // the latest identity that a plan gave to a path
	first   map[string]content  // the content that a path was first planned with

	books  storage.Store
	plans  []plan
	batch  int64
	source *Source

	got, want []string // records
}

type content struct {
	text string
	version
}

const oracleSettle = 5 * time.Second

// readNames land under any number of further names, unreadNames must never be read.
var (
	readNames   = []string{"a.txt", "with space.txt", "ü😀.txt", "sub/a.txt", "sub/deep/c.txt.gz", "d.txt.zst"}
	unreadNames = []string{"_x/a.txt", "sub/.hidden.txt", "f.txt.tmp", "other.csv"}
)

func newWorld(tb testing.TB, seed uint64, mode Overwritten, in landing) *world {
	w := &world{
		tb: tb, seed: seed, rng: rand.New(rand.NewPCG(seed, 99)), in: in, now: noon, mode: mode,
		files: map[string]content{}, planned: map[string]identity{}, first: map[string]content{}, books: newMemory(),
	}
	w.restart()
	return w
}

func (w *world) fatalf(format string, args ...any) {
	w.tb.Helper()
	w.tb.Fatalf("seed %d, %s: %s", w.seed, w.mode, fmt.Sprintf(format, args...))
}

func (w *world) restart() {
	w.source = open(w.tb, w.in, func(c *Config) {
		c.Pattern = "**/*.txt{,.gz,.zst}"
		c.Settle = oracleSettle
		c.Overwritten = w.mode
		c.Now = func() time.Time { return w.now }
		c.Bookkeeping = w.books
	})
	restore(w.tb, w.source, w.plans)
}

func (w *world) land() {
	name := unreadNames[w.rng.IntN(len(unreadNames))]
	if w.rng.IntN(4) > 0 {
		dir, base := path.Split(readNames[w.rng.IntN(len(readNames))])
		name = fmt.Sprintf("%s%d%s", dir, w.rng.IntN(20), base)
	}
	w.now = w.now.Add(time.Duration(1 + w.rng.Int64N(3e9)))
	var text strings.Builder
	for i := range w.rng.IntN(5) {
		fmt.Fprintf(&text, "%s at %d: %d\n", strings.ReplaceAll(name, "/", "|"), w.now.UnixNano(), i)
	}
	w.put(name, text.String(), w.now)
}

func (w *world) put(name, text string, modified time.Time) {
	stored := text
	switch {
	case text == "":
	case strings.HasSuffix(name, ".gz"):
		stored = gzipOf(w.tb, text)
	case strings.HasSuffix(name, ".zst"):
		stored = zstdOf(w.tb, text)
	}
	w.in.write(w.tb, name, stored, modified)
	w.files[name] = content{text, version{size: int64(len(stored)), modified: modified.UnixNano()}}
}

// eligible are the paths that the next fresh listing should plan, in order.
func (w *world) eligible() []string {
	var names []string
	for name, f := range w.files {
		was, seen := w.planned[name]
		again := seen && w.mode == OverwrittenReprocess && was != f.identity()
		if f.size == 0 || slices.Contains(unreadNames, name) || seen && !again || w.now.Sub(f.time()) < oracleSettle {
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return older(candidate{a, w.files[a].version}, candidate{b, w.files[b].version})
	})
	return names
}

func (w *world) overwritten() []string {
	var names []string
	for name, was := range w.planned {
		if w.files[name].identity() != was {
			names = append(names, name)
		}
	}
	return names
}

// step makes one batch and tells whether it had files.
func (w *world) step() bool {
	limits := source.Limits{MaxFiles: w.rng.Int64N(4), MaxBytes: w.rng.Int64N(2) * w.rng.Int64N(400), MaxRecords: w.rng.Int64N(2) * w.rng.Int64N(12)}
	p, err := w.source.Next(w.tb.Context(), limits)
	over := w.overwritten()
	if w.mode == OverwrittenFail && len(over) > 0 {
		if err == nil && !p.More {
			w.fatalf("overwritten %q are not noticed", over)
		}
		for _, name := range over { // put them back
			old := w.first[name]
			w.put(name, old.text, old.time())
		}
		if err != nil {
			return true
		}
	}
	if err != nil {
		w.fatalf("next: %v", err)
	}
	w.check(p, limits)
	if len(p.Ranges) == 0 {
		return false
	}
	if w.rng.IntN(5) == 0 { // dies before the plan is recorded
		w.restart()
		return true
	}
	w.record(p)
	return true
}

// check compares a plan with what there is to plan.
func (w *world) check(p source.Planned, limits source.Limits) {
	eligible := w.eligible()
	names := partitions(p)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "landing/")
	}
	if limits.MaxFiles > 0 && int64(len(names)) > limits.MaxFiles || limits.MaxBytes > 0 && p.Bytes > limits.MaxBytes && len(names) > 1 {
		w.fatalf("%d files, %d bytes planned under %+v", len(names), p.Bytes, limits)
	}
	if len(names) == 0 && len(eligible) > 0 {
		w.fatalf("nothing is planned of %q", eligible)
	}
	if !p.More {
		if diff := cmp.Diff(eligible, names); diff != "" {
			w.fatalf("a whole plan is not of all files: %s", diff)
		}
	}
	for i, name := range names {
		if !slices.Contains(eligible, name) || p.Ranges[i].To != w.files[name].size {
			w.fatalf("%v is planned of %q", p.Ranges[i], eligible)
		}
	}
}

// record makes the plan durable, reads it, perhaps more than once, and perhaps keeps and prunes.
func (w *world) record(p source.Planned) {
	w.plans = append(w.plans, plan{w.batch, p.Ranges})
	for _, r := range p.Ranges {
		name := strings.TrimPrefix(r.Partition, "landing/")
		f := w.files[name]
		w.planned[name] = f.identity()
		if _, ok := w.first[name]; !ok {
			w.first[name] = f
		}
		for i, line := range strings.Split(strings.TrimSuffix(f.text, "\n"), "\n") {
			w.want = append(w.want, fmt.Sprintf("%s:%d:%s", r.Partition, i+1, line))
		}
	}
	if w.rng.IntN(4) == 0 { // dies after the plan is recorded, perhaps half way through
		w.restart()
	} else {
		w.source.Advance(w.batch, p.Ranges)
	}
	w.got = append(w.got, records(w.tb, w.source, p.Ranges)...)
	w.batch++
	if w.rng.IntN(3) == 0 {
		through := w.batch - 1 - w.rng.Int64N(3)
		if through < 0 {
			return
		}
		if err := w.source.Keep(w.tb.Context(), through); err != nil {
			w.fatalf("keep: %v", err)
		}
		if w.rng.IntN(4) > 0 { // or dies before it prunes
			w.plans = slices.DeleteFunc(w.plans, func(p plan) bool { return p.batch <= through })
		}
	}
}

// TestEachFileIsReadExactlyOnce checks random histories of files landing, being overwritten, batches of any size, crashes
// and restarts against an account that lists the whole folder every time and forgets nothing.
func TestEachFileIsReadExactlyOnce(t *testing.T) {
	landings := map[string]struct {
		make  func() landing
		seeds uint64
	}{
		"memory": {func() landing { return newMemory() }, 50},
		"local":  {func() landing { return newFolder(t) }, 4},
	}
	for kind, l := range landings {
		for _, mode := range []Overwritten{OverwrittenFail, OverwrittenIgnore, OverwrittenReprocess} {
			t.Run(fmt.Sprintf("%s, overwritten %s", kind, mode), func(t *testing.T) {
				for seed := range l.seeds {
					w := newWorld(t, seed, mode, l.make())
					for range 60 {
						switch {
						case w.rng.IntN(3) > 0:
							w.land()
						case w.rng.IntN(10) == 0:
							w.restart()
						default:
							w.step()
						}
					}
					w.now = w.now.Add(time.Hour)
					for w.step() {
					}
					if diff := cmp.Diff(w.want, w.got); diff != "" {
						w.fatalf("records: %s", diff)
					}
					for name, f := range w.files {
						if _, read := w.planned[name]; !read && f.size > 0 && !slices.Contains(unreadNames, name) {
							w.fatalf("%s was never read", name)
						}
					}
				}
			})
		}
	}
}
