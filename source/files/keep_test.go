package files

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// checkpointed is a checkpoint as far as a source has a part in it: the plans, and the store of the seen log. A process
// that works on it appends plans and prunes those that its source keeps.
type checkpointed struct {
	plans       []plan // from the oldest one that is not pruned on
	bookkeeping storage.Store
}

// makePlans plans batches of a few files each. Some paths come again with another identity.
func makePlans(n int, rng *rand.Rand) []plan {
	plans := make([]plan, n)
	for i := range plans {
		plans[i].batch = int64(i)
		for range rng.IntN(4) {
			id := version{size: 1 + rng.Int64N(100), modified: rng.Int64N(1000)}
			plans[i].ranges = append(plans[i].ranges, id.asRange(fmt.Sprintf("landing/%d", rng.IntN(2*n))))
		}
	}
	return plans
}

// mustHold checks that a source restored from the checkpoint has seen exactly the files of the plans.
func (c *checkpointed) mustHold(tb testing.TB, all []plan) {
	tb.Helper()
	s := open(tb, newMemory(), func(cfg *Config) { cfg.Bookkeeping = c.bookkeeping })
	restore(tb, s, c.plans)
	mustHaveSeen(tb, s, all)
}

func mustHaveSeen(tb testing.TB, s *Source, all []plan) {
	tb.Helper()
	want := map[string]identity{}
	for _, p := range all {
		for _, r := range p.ranges {
			v, err := versionIn(r)
			if err != nil {
				tb.Fatal(err)
			}
			want[r.Partition] = v.identity()
		}
	}
	got := map[string]identity{}
	var h hasher
	for path := range want {
		if id, ok := s.seen.get(h.sum(path)); ok {
			got[path] = id
		}
	}
	if diff := cmp.Diff(want, got, exact); diff != "" {
		tb.Fatalf("seen files: %s", diff)
	}
	if s.seen.len() != len(want) {
		tb.Fatalf("%d seen files, want %d", s.seen.len(), len(want))
	}
}

// run restores a source over the given view of the bookkeeping and takes it from the checkpoint's newest plan to the
// end, keeping all but the newest plan. It returns the first error.
func (c *checkpointed) run(tb testing.TB, view storage.Store, all []plan, done int) (int, error) {
	s := open(tb, newMemory(), func(cfg *Config) { cfg.Bookkeeping = view })
	h := history(c.plans)
	h.First = false
	if err := s.Restore(tb.Context(), h); err != nil {
		return done, err
	}
	for ; done < len(all); done++ {
		c.plans = append(c.plans, all[done])
		s.Advance(all[done].batch, all[done].ranges)
		if done == 0 {
			continue
		}
		if err := s.Keep(tb.Context(), int64(done-1)); err != nil {
			return done + 1, err
		}
		c.prune(int64(done - 1))
	}
	return done, nil
}

func (c *checkpointed) prune(through int64) {
	c.plans = slices.DeleteFunc(slices.Clone(c.plans), func(p plan) bool { return p.batch <= through })
}

func TestKeepSurvivesACrashAtEachOperation(t *testing.T) {
	all := makePlans(24, rand.New(rand.NewPCG(7, 7)))
	for _, mode := range append(slices.Clone(storagetest.Modes), storagetest.Zombie) {
		t.Run(mode.String(), func(t *testing.T) {
			points := 0
			for k := 0; ; k++ {
				c := &checkpointed{bookkeeping: newMemory()}
				crash := &storagetest.Crash{At: k, Mode: mode, Tear: func(string, string) bool { return true }}
				done, err := c.run(t, crash.Wrap(c.bookkeeping), all, 0)
				if !crash.Happened() {
					if err != nil || done != len(all) {
						t.Fatalf("without a crash: %d batches, %v", done, err)
					}
					break
				}
				points++
				if err == nil && !mode.Lives() {
					t.Fatalf("operation %d, %s: no error", k, crash.Op)
				}
				crash.Deliver()
				c.mustHold(t, all[:done])
				if done, err := c.run(t, c.bookkeeping, all, done); err != nil || done != len(all) {
					t.Fatalf("operation %d, %s: afterwards %d batches, %v", k, crash.Op, done, err)
				}
				c.mustHold(t, all)
			}
			if points < 40 {
				t.Errorf("only %d crash points", points)
			}
			t.Logf("%d crash points", points)
		})
	}
}

func TestKeepOnTheLocalDiskSurvivesACrashAtEachOperation(t *testing.T) {
	all := makePlans(6, rand.New(rand.NewPCG(3, 3)))
	for k := 0; ; k++ {
		c := &checkpointed{bookkeeping: local.New(t.TempDir())}
		crash := &storagetest.Crash{At: k, Mode: storagetest.Modes[k%3]}
		done, _ := c.run(t, crash.Wrap(c.bookkeeping), all, 0)
		if !crash.Happened() {
			return
		}
		c.mustHold(t, all[:done])
		if _, err := c.run(t, c.bookkeeping, all, done); err != nil {
			t.Fatalf("operation %d, %s: afterwards: %v", k, crash.Op, err)
		}
		c.mustHold(t, all)
	}
}

// TestTwoProcessesKeepTheSameBatches lets two processes of a pipeline follow the same plans at their own pace, crash now
// and then, and prune what either has kept.
func TestTwoProcessesKeepTheSameBatches(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 11))
		all := makePlans(30, rng)
		c := &checkpointed{bookkeeping: newMemory()}
		type process struct {
			source *Source
			at     int // batches advanced past
		}
		start := func() *process {
			crash := &storagetest.Crash{At: rng.IntN(60), Mode: storagetest.Modes[rng.IntN(4)], Tear: func(string, string) bool { return true }}
			view := crash.Wrap(c.bookkeeping)
			s := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = view })
			h := history(c.plans)
			h.First = false
			if err := s.Restore(t.Context(), h); err != nil {
				if !errors.Is(err, storagetest.ErrCrashed) && !errors.Is(err, storagetest.ErrLost) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				return nil
			}
			at := 0
			if n := len(c.plans); n > 0 {
				at = int(c.plans[n-1].batch) + 1
			}
			return &process{s, at}
		}
		planned := 0
		var procs [2]*process
		for planned < len(all) {
			p := procs[rng.IntN(2)]
			switch {
			case p == nil:
				procs[rng.IntN(2)] = start()
			case p.at < len(all) && rng.IntN(2) == 0:
				if p.at == planned {
					c.plans = append(c.plans, all[planned])
					planned++
				}
				p.source.Advance(all[p.at].batch, all[p.at].ranges)
				p.at++
			case p.at > 1:
				through := int64(rng.IntN(p.at - 1))
				err := p.source.Keep(t.Context(), through)
				switch {
				case err == nil:
					c.prune(through)
				case errors.Is(err, storagetest.ErrCrashed):
					procs = [2]*process{}
				case !errors.Is(err, storagetest.ErrLost):
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		c.mustHold(t, all)
	}
}

func TestDamagedSegmentIsAnErrorThatNamesItAndTheWayOut(t *testing.T) {
	all := makePlans(9, rand.New(rand.NewPCG(1, 1)))
	mem := newMemory()
	c := &checkpointed{bookkeeping: mem}
	if _, err := c.run(t, mem, all, 0); err != nil {
		t.Fatal(err)
	}
	for _, key := range mem.keys() {
		whole := mem.objects[key]
		for name, damage := range map[string]func(){
			"changed": func() {
				b := slices.Clone(whole.body)
				b[len(b)/2] ^= 1
				mem.objects[key] = memoryObject{body: b}
			},
			"cut short": func() { mem.objects[key] = memoryObject{body: whole.body[:20]} },
			"gone":      func() { delete(mem.objects, key) },
		} {
			t.Run(name+" "+key, func(t *testing.T) {
				damage()
				defer func() { mem.objects[key] = whole }()
				s := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = mem })
				err := s.Restore(t.Context(), history(c.plans))
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) {
					t.Fatalf("restore gives %v", err)
				}
				mustContain(t, err, "memory", "--adopt-table", "backup")
				if name != "gone" {
					mustContain(t, err, key)
				}
			})
		}
	}
	c.mustHold(t, all)
}

func TestSegmentOfALaterVersionIsRefused(t *testing.T) {
	mem := newMemory()
	key := segmentName{to: 1}.key()
	mem.write(t, key, strings.Replace(string(encodeSegment(segmentName{to: 1}, nil)), segmentMagic, "SLSEEN02", 1), noon)
	s := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = mem })
	err := s.Restore(t.Context(), history([]plan{{batch: 0}}))
	mustContain(t, err, key, "version")
}

func TestHistoryThatBeginsTooLateIsRefused(t *testing.T) {
	s := open(t, newMemory(), nil)
	err := s.Restore(t.Context(), history([]plan{{batch: 5}, {batch: 6}}))
	mustContain(t, err, "batches 0 to 4", "--adopt-table")
}

func TestSeenLogWithoutAPipelinesPastIsRefused(t *testing.T) {
	c := &checkpointed{bookkeeping: newMemory()}
	if _, err := c.run(t, c.bookkeeping, makePlans(3, rand.New(rand.NewPCG(1, 1))), 0); err != nil {
		t.Fatal(err)
	}
	s := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = c.bookkeeping })
	mustContain(t, s.Restore(t.Context(), history(nil)), "batches 0 to 1", "remove this folder")
}

func TestAdoptedHistoryIsAllThatCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	mine, tables := makePlans(9, rng), makePlans(12, rng)
	mem := newMemory()
	c := &checkpointed{bookkeeping: mem}
	if _, err := c.run(t, mem, mine, 0); err != nil {
		t.Fatal(err)
	}
	// A crash at each operation leaves the checkpoint as it was, or adopted.
	for k := 0; ; k++ {
		crash := &storagetest.Crash{At: k, Mode: storagetest.Before}
		adopting := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = crash.Wrap(mem) })
		h := history(tables)
		h.Adopted = true
		err := adopting.Restore(t.Context(), h)
		if !crash.Happened() {
			if err != nil {
				t.Fatal(err)
			}
			mustHaveSeen(t, adopting, tables)
			break
		}
		c.mustHold(t, mine)
	}
	// The offset log has only the adopted batch, then new ones.
	more := makePlans(15, rng)[12:]
	c = &checkpointed{bookkeeping: mem, plans: tables[11:]}
	all := slices.Concat(tables, more)
	c.mustHold(t, tables)
	if _, err := c.run(t, mem, all, 12); err != nil {
		t.Fatal(err)
	}
	c.mustHold(t, all)

	// The process from before the adoption can't add to what no longer counts.
	stale := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = mem })
	stale.log.kept = 8
	stale.Advance(9, []offsetlog.Range{})
	mustContain(t, stale.Keep(t.Context(), 9), "adopted")
}

func TestAdoptionOfATableWithoutBatches(t *testing.T) {
	mem := newMemory()
	c := &checkpointed{bookkeeping: mem}
	if _, err := c.run(t, mem, makePlans(4, rand.New(rand.NewPCG(2, 2))), 0); err != nil {
		t.Fatal(err)
	}
	s := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = mem })
	if err := s.Restore(t.Context(), source.History{Adopted: true}); err != nil {
		t.Fatal(err)
	}
	all := makePlans(5, rand.New(rand.NewPCG(4, 4)))
	c = &checkpointed{bookkeeping: mem}
	if err := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = mem }).Restore(t.Context(), history(nil)); err != nil {
		t.Fatalf("a first start after it: %v", err)
	}
	if _, err := c.run(t, mem, all, 0); err != nil {
		t.Fatal(err)
	}
	c.mustHold(t, all)
}

func TestKeepOfABatchThatWasNeverPlannedIsRefused(t *testing.T) {
	s := open(t, newMemory(), nil)
	restore(t, s, nil)
	s.Advance(0, nil)
	mustContain(t, s.Keep(t.Context(), 1), "batch 1", "not been planned")
	if err := s.Keep(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestTwoPipelinesOnOneCheckpointAreNoticed(t *testing.T) {
	mem := newMemory()
	for i, want := range []string{"", "two pipelines use one checkpoint"} {
		c := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = mem })
		c.Advance(0, []offsetlog.Range{version{size: 1, modified: int64(i)}.asRange("landing/a")})
		blind := storage.Wrap(mem, func(op *storage.Op, call func() error) error {
			if op.Name == "list" {
				return nil
			}
			return call()
		})
		c.log.store = blind
		err := c.Keep(t.Context(), 0)
		if want == "" {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		mustContain(t, err, want)
	}
}

func TestSegmentThatAnotherProcessMergesAwayMeanwhileIsNotMissed(t *testing.T) {
	mem := newMemory()
	all := make([]plan, 4)
	for i := range all {
		all[i].batch = int64(i)
		for n := range 1 + i {
			all[i].ranges = append(all[i].ranges, version{size: 1, modified: 1}.asRange(fmt.Sprintf("landing/%d.%d", i, n)))
		}
	}
	start := func(view storage.Store) *Source {
		s := open(t, newMemory(), func(cfg *Config) { cfg.Bookkeeping = view })
		restore(t, s, all)
		return s
	}
	first := start(mem)
	if err := first.Keep(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	meanwhile := func() {
		if err := first.Keep(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	armed := false
	second := start(storage.Wrap(mem, func(op *storage.Op, call func() error) error {
		if op.Name == "get" && armed {
			armed = false
			meanwhile()
		}
		return call()
	}))
	armed = true
	if err := second.Keep(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if armed {
		t.Error("nothing was merged")
	}
	(&checkpointed{bookkeeping: mem}).mustHold(t, all)
}
