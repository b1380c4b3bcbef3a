package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/table"
)

const (
	// compactFor is how long a compaction goes on at a stretch, if there is more than a group to do: then other maintenance has its turn.
	compactFor = time.Minute
	// compactAgain is for how long one that has failed is left alone.
	compactAgain = 10 * time.Minute
	// looksShare is by how much longer than it takes to read a table's files they are left alone.
	looksShare = 20
)

// compactions rewrites the small files of a table. It looks at the table's files once in a run, and then whenever so many have been
// appended that it may be worth it.
type compactions struct {
	lake   *lake
	when   Compact
	now    func() time.Time
	memory *memory.Account
	table  *table.Table // with a log of its own: no append waits for what it reads

	looked bool
	seen   int64     // files that had been appended at the newest look
	small  int64     // files that it found, and that are still to be rewritten
	next   time.Time // no look before
}

func newCompactions(l *lake, when Compact, o BuildOptions, account *memory.Account) *compactions {
	return &compactions{lake: l, when: when, now: o.Now, memory: account, table: table.New(l.store, table.Options{
		EngineVersion: o.Version, Now: o.Now, Memory: account, OpenFiles: 1, Parallelism: 1,
	})}
}

// Maintain rewrites small files if there are enough of them, and the run is not behind.
func (c *compactions) Maintain(ctx context.Context, beside *batch.Beside) *batch.Maintained {
	if beside.Behind() || !c.due() {
		return nil
	}
	done := &batch.Maintained{Work: "compact", Table: c.lake.url}
	began := time.Now()
	c.looked, c.seen = true, c.lake.appended.Load()
	if err := c.compact(ctx, beside, done); err != nil {
		done.Err = fmt.Errorf("compact table %s: %w", c.lake.url, err)
		c.small, c.next = c.when.MinFiles, c.now().Add(compactAgain)
	} else if done.Files == 0 {
		return nil
	}
	done.Took = time.Since(began)
	return done
}

func (c *compactions) due() bool {
	if c.lake.table.Log().Head() == nil || c.now().Before(c.next) {
		return false
	}
	return !c.looked || c.small+c.lake.appended.Load()-c.seen >= c.when.MinFiles
}

// compact tells in done what it has rewritten, of as much as is worth it now.
func (c *compactions) compact(ctx context.Context, beside *batch.Beside, done *batch.Maintained) error {
	began := time.Now()
	work := &paced{ctx: ctx, beside: beside, since: began}
	release, err := reserve(c.memory, c.lake.table.Log().Head().StateMemory(), "the list of its files", "compact")
	if err != nil {
		return err
	}
	defer release()
	s, err := c.table.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	p, err := compaction.NewPlan(ctx, s, compaction.Options{
		MinAge: c.when.MinAge, MaxFiles: int(max(c.memory.Room()/2/compaction.PlanMemory, c.when.MinFiles)), Now: c.now(),
		Order: compaction.Order{Settings: zorder.Settings{Memory: c.memory, Scratch: c.lake.scratch(), Parallelism: 1}},
	})
	if err != nil {
		return err
	}
	files := int64(p.Files())
	c.memory.Add(files * compaction.PlanMemory)
	defer c.memory.Add(-files * compaction.PlanMemory)
	worth := files >= c.when.MinFiles
	c.looksLater(worth, files, int64(p.Young), time.Since(began))
	work.rest()
	if !worth {
		return nil
	}
	return c.rewrite(ctx, s, p, work, done)
}

// looksLater says when it is worth to look again, of a look that took so long.
func (c *compactions) looksLater(worth bool, files, young int64, took time.Duration) {
	if c.small = young; !worth {
		c.small += files
	}
	pause := looksShare * took
	if c.small >= c.when.MinFiles {
		pause = max(pause, c.when.MinAge)
	}
	c.next = c.now().Add(pause)
}

func (c *compactions) rewrite(ctx context.Context, s *table.Snapshot, p *compaction.Plan, work *paced, done *batch.Maintained) error {
	var lost error // of the newest race
	began, groups := time.Now(), 0
	err := compaction.Run(ctx, s, p, compaction.Events{
		Progress: func(int, int64) { work.rest() },
		Written:  func(int, int64) { work.rest() },
		Done: func(d compaction.Done) {
			groups++
			if d.Conflict != nil {
				lost = d.Conflict
			} else {
				done.Version = d.Committed.Version
				done.Files += int64(len(d.Files))
				done.Bytes += d.Committed.Bytes
			}
			work.rest()
		},
		Enough: func() bool { return time.Since(began) > compactFor },
	})
	if err == nil && groups < len(p.Groups) {
		c.small, c.next = c.when.MinFiles, time.Time{}
	}
	if err == nil && done.Files == 0 {
		err = lost
	}
	return err
}

// paced is work of which a run beside it is to feel little.
type paced struct {
	ctx    context.Context
	beside *batch.Beside
	since  time.Time // when it began, or went on behind a pause
}

// rest pauses for as long as the work since the last pause asks for. The work itself sees that the context has ended.
func (p *paced) rest() {
	_ = p.beside.Rest(p.ctx, time.Since(p.since))
	p.since = time.Now()
}
