package files

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

func lexical(cfg *Config) { cfg.Order = OrderLexical }

// looked is a landing folder that counts the objects which listings show.
type looked struct {
	storage.Store
	objects int
}

func (l *looked) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	return l.Store.List(ctx, prefix, startAfter, func(info storage.Info) error {
		l.objects++
		return fn(info)
	})
}

func TestLexicalOrderReadsByPathAndListsWhatIsNew(t *testing.T) {
	folder := newMemory()
	for i := range 50 {
		folder.write(t, fmt.Sprintf("day/%02d", i), "x\n", at(-i)) // the newest comes first
	}
	s := open(t, folder, lexical)
	restore(t, s, nil)
	var plans []plan
	for batch := range int64(5) {
		planned := next(t, s, source.Limits{MaxFiles: 10})
		if got, want := planned.Ranges[0].Partition, fmt.Sprintf("landing/day/%02d", 10*batch); got != want || len(planned.Ranges) != 10 {
			t.Fatalf("batch %d begins with %s and has %d files, want %s and 10", batch, got, len(planned.Ranges), want)
		}
		plans = append(plans, plan{batch, planned.Ranges})
		s.Advance(batch, planned.Ranges)
		if err := s.Keep(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if got := records(t, s, plans[4].ranges); len(got) != 10 {
		t.Errorf("%d records of a batch, want 10", len(got))
	}

	look := &looked{Store: folder}
	again := open(t, look, lexical)
	restore(t, again, plans[4:]) // all that is left of the plans
	folder.write(t, "day/49a", "x\n", at(0))
	folder.write(t, "day/10a", "x\n", at(0)) // too late
	folder.write(t, "day/20", "changed\n", at(1))
	if got := partitions(next(t, again, source.Limits{})); !slices.Equal(got, []string{"landing/day/49a"}) || look.objects != 1 {
		t.Errorf("planned %v from a listing of %d", got, look.objects)
	}
}

func TestYoungFileHoldsUpWhatIsBehindItInLexicalOrder(t *testing.T) {
	folder := newMemory()
	folder.write(t, "a", "x\n", at(0))
	folder.write(t, "b", "x\n", at(3595))
	folder.write(t, "c", "x\n", at(0))
	s := open(t, folder, func(cfg *Config) { cfg.Order, cfg.Settle = OrderLexical, 10*time.Second })
	restore(t, s, nil)
	if got := partitions(next(t, s, source.Limits{})); !slices.Equal(got, []string{"landing/a"}) {
		t.Errorf("planned %v", got)
	}
}

func TestOrderThatHasChangedIsRefused(t *testing.T) {
	folder := newMemory()
	folder.write(t, "a", "x\n", at(0))
	for was, now := range map[Order]Order{OrderLexical: OrderModified, OrderModified: OrderLexical} {
		before := open(t, folder, func(cfg *Config) { cfg.Order = was })
		restore(t, before, nil)
		plans := []plan{{0, next(t, before, source.Limits{}).Ranges}}
		err := open(t, folder, func(cfg *Config) { cfg.Order = now }).Restore(t.Context(), history(plans))
		mustContain(t, err, "planned with order: "+string(was), "says "+string(now), "set source.files.order back")
	}
}

// TestLargeBacklogInLexicalOrderIsListedAboutOnce reads a folder to its end: few files are listed twice, and memory does not grow
// with their number.
func TestLargeBacklogInLexicalOrderIsListedAboutOnce(t *testing.T) {
	const files, perBatch = 5 * maxQueue / 2, 25_000
	in := &looked{Store: ordinals{files: files}}
	s := open(t, in, lexical)
	restore(t, s, nil)
	before, planned := heap(), 0
	for batch := int64(0); planned < files; batch++ {
		p := next(t, s, source.Limits{MaxFiles: perBatch})
		if len(p.Ranges) != perBatch {
			t.Fatalf("batch %d has %d files", batch, len(p.Ranges))
		}
		planned += perBatch
		s.Advance(batch, p.Ranges)
		if err := s.Keep(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; in.objects > files+files/2 || grown > 8<<20 {
		t.Errorf("%d of %d files listed, the heap has grown by %d bytes", in.objects, files, grown)
	}
	in.objects = 0
	if p := next(t, s, source.Limits{}); len(p.Ranges) > 0 || in.objects > 0 {
		t.Errorf("at the end %d files are planned and %d listed", len(p.Ranges), in.objects)
	}
}

// ordinals is a landing folder of so many files, of which only the listing exists.
type ordinals struct {
	storage.Store // nil
	files         int
}

func (n ordinals) info(i int) storage.Info {
	return storage.Info{Key: fmt.Sprintf("%09d", i), Size: 1, Modified: noon}
}

func (n ordinals) Stat(_ context.Context, key string) (storage.Info, error) {
	i, err := strconv.Atoi(key)
	return n.info(i), err
}

func (n ordinals) List(_ context.Context, _, startAfter string, fn func(storage.Info) error) error {
	first, err := strconv.Atoi(startAfter)
	if err == nil {
		first++
	}
	for i := first; i < n.files; i++ {
		if err := fn(n.info(i)); err != nil {
			return err
		}
	}
	return nil
}
