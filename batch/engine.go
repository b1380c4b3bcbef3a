// Package batch is the engine: it plans batches, runs them, publishes them, and after a crash goes on as if there had
// been none.
//
// It owns the protocol of docs/design.md. One batch is: a plan in the offset log (put-if-absent, before anything is
// read); reading exactly the planned ranges into staged files; the bad records into the quarantine table, if there is
// one; and one commit in the table's log that names the batch, its ranges and its files. That commit is the only step
// that matters: before it nothing of the batch can be seen, after it nothing is repeated. The engine knows its table, its
// source and its decoder by the small interfaces declared here and in packages source and format; package pipeline wires
// them.
//
// Invariants:
//
//   - Nothing is read that is not planned; a plan, once stored, is run with its ranges and no others, however often.
//   - Batches are committed in order, each at most once. Ranges of successive commits touch: a batch without rows leaves
//     no commit, and the next commit covers it.
//   - What two sides say of the past is compared before anything is done (recoverFrom); where they contradict each other
//     the run is refused.
//   - A process that is not the only one of its pipeline stops with ErrFenced, at the latest at its next commit.
package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
)

// Config is what an Engine is made of.
type Config struct {
	Name        string // the pipeline's, its appId in the table
	Checkpoint  storage.Store
	Bookkeeping storage.Store // the source's own, cleared up at a start as the checkpoint is; may be nil
	Source      source.Source
	Table       Table
	Quarantine  Table        // nil unless Settings.OnError is Quarantine
	Maintainers []Maintainer // of these tables
	Compacted   bool         // the tables' small files are made into larger ones beside the run
	Decoding    Decoding
	Fingerprint string // of the logic
	Start       string // where the source is told to begin, in words; empty when there is no such setting
	Settings    Settings
	Memory      *memory.Account // of decoded rows; nil: one of the engine's own
	Events      Events
	// Requests tells how many requests of each kind the stores have made so far; nil where nobody counts.
	Requests func() map[string]int64
	// Probe, if set, finds out before a run whether the stores can do what it needs.
	Probe func(context.Context) error
	// Judge says what an error means, for status; without it all errors are NeedsYou.
	Judge func(error) Verdict
	// Outages are what is being waited for; nil where nothing is.
	Outages *retry.Outages
	Now     func() time.Time // what time it is, for what is written; waits go by the monotonic clock
}

// Engine runs one pipeline. Not safe for concurrent use.
type Engine struct {
	Config
	log         *offsetlog.Log
	decoders    []format.Decoder // one a worker; none before the first batch
	unknown     map[string]int64 // of the decoders', those that are in a commit, as are the tombstones
	tombstones  int64
	quarantined int64 // newest batch in the quarantine table, -1: none

	table *TableState // as of the start or of our last commit; nil: no table yet
	// committed is T, whose commit covers the batches from committedSince on.
	committed      offsetlog.Committed
	committedSince int64
	files          recentFiles // of this run's commits
	saidSmall      bool
	committedAt    time.Time
	// pending are the merged ranges of the batches after T that had no rows, pendingPlan the plan of the last of them. The
	// next commit covers them.
	pending     []offsetlog.Range
	pendingPlan offsetlog.Plan

	publishing *publishing        // nil: none
	giveUp     context.CancelFunc // ends what goes on beside it

	waitingSince time.Time        // for MinRecords and MaxDelay
	tick         time.Time        // of an Interval, the next one
	requests     map[string]int64 // before the step that is being made

	journal journal
	worked  bool // this run has
}

// New returns an engine. It does no I/O.
func New(c Config) *Engine {
	if c.Settings.Poll == 0 {
		c.Settings.Poll = defaultPoll
	}
	if c.Memory == nil {
		c.Memory = memory.New(ownMemory).Open("decode", ownMemory)
	}
	if c.Settings.Parallelism == 0 {
		c.Settings.Parallelism = runtime.GOMAXPROCS(0)
	}
	if c.Settings.KeepPlans == 0 {
		c.Settings.KeepPlans = defaultKeepPlans
	}
	if c.Judge == nil {
		c.Judge = func(error) Verdict { return Verdict{Kind: "failed", Class: NeedsYou} }
	}
	e := &Engine{Config: c, committed: offsetlog.Committed{Batch: -1, Version: -1}}
	e.journal.store, e.journal.judge, e.journal.now = c.Checkpoint, c.Judge, c.Now
	e.journal.committed.Store(unknownBatch)
	return e
}

// Run recovers, then runs batches as the trigger says. It returns nil when that ends, and also when ctx ends: then the
// batch in flight was either published or left without a trace, to be run again by the next start. Errors are
// RefusedError, ErrFenced (wrapped), an offsetlog.CorruptError, a source's, a table's, or that of a bad record.
func (e *Engine) Run(ctx context.Context) error {
	stop := e.followOutages(ctx)
	err := e.run(ctx)
	stop()
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	if err == nil && ctx.Err() != nil {
		ctx = storage.Finish(ctx) // a clean stop still commits the position behind empty batches
	}
	if err == nil {
		err = e.end(ctx)
	}
	if err != nil {
		return errors.Join(err, e.recordError(storage.Finish(ctx), err))
	}
	return nil
}

// time is what the clock says, but never before the time of the newest plan: a clock can be set back.
func (e *Engine) time() time.Time {
	now := e.Now().UTC().Truncate(time.Microsecond)
	if e.log == nil {
		return now
	}
	if newest := e.log.Newest(); newest != nil && now.Before(newest.Time) {
		return newest.Time
	}
	return now
}

// end is for a run that ends cleanly: it commits the position behind empty batches, and leaves a record of what is committed
// to the next start, which could not tell a table without its newest commit from a batch in flight.
func (e *Engine) end(ctx context.Context) error {
	if err := e.commitPending(ctx); err != nil || e.committed.Version < 0 {
		return err
	}
	return e.log.End(ctx, e.committed)
}

// recordError keeps the error that the run ends with. Being fenced is no error of the pipeline's: another process runs it.
func (e *Engine) recordError(ctx context.Context, err error) error {
	if errors.Is(err, ErrFenced) {
		return nil
	}
	return e.journal.record(ctx, Ended, e.Now(), err)
}

func (e *Engine) run(ctx context.Context) error {
	if e.Probe != nil {
		if err := e.Probe(ctx); err != nil {
			return err
		}
	}
	rerun, err := e.open(ctx)
	if err != nil {
		return err
	}
	m := e.beginMaintenance(ctx)
	err = e.batches(ctx, rerun, m)
	m.end(err == nil)
	return err
}

// batches runs those that were planned before, and then new ones. Of two batches that fail it returns the error of the earlier one.
func (e *Engine) batches(ctx context.Context, rerun []offsetlog.Plan, m *maintenance) error {
	ctx, e.giveUp = context.WithCancel(ctx)
	defer e.giveUp()
	err := e.runAll(ctx, rerun, m)
	if earlier := e.settled(ctx); earlier != nil {
		return earlier
	}
	return err
}

func (e *Engine) runAll(ctx context.Context, rerun []offsetlog.Plan, m *maintenance) error {
	done := int64(0)
	for _, plan := range rerun {
		if e.enough(done) {
			return nil
		}
		e.countRequests()
		if err := e.runBatch(ctx, plan, true, false); err != nil {
			return err
		}
		if err := e.works(ctx); err != nil {
			return err
		}
		m.look()
		done++
	}
	return e.loop(ctx, done, m)
}

func (e *Engine) enough(done int64) bool {
	return e.Settings.MaxBatches > 0 && done >= e.Settings.MaxBatches
}

// open is resume. What goes wrong while another process of the pipeline goes on proves nothing about what is stored: a start
// reads one thing after the other.
func (e *Engine) open(ctx context.Context) ([]offsetlog.Plan, error) {
	rerun, err := e.resume(ctx)
	if err != nil && e.overtaken(ctx) {
		return nil, fmt.Errorf("%w: it has planned batches while this one started, which met with: %w", ErrFenced, err)
	}
	return rerun, err
}

// overtaken tells whether another process has planned batches since this one has read the plans.
func (e *Engine) overtaken(ctx context.Context) bool {
	if e.log == nil {
		return false
	}
	now, err := offsetlog.Open(ctx, e.Checkpoint, e.Name)
	return err == nil && batchAfter(now) > batchAfter(e.log)
}

// resume compares the two logs, clears up after dead attempts, and sets the source to the end of the newest plan.
func (e *Engine) resume(ctx context.Context) ([]offsetlog.Plan, error) {
	r, err := e.compare(ctx)
	if err != nil {
		return nil, err
	}
	e.committedAt = time.Now()
	e.committed = offsetlog.Committed{Batch: r.committed, Version: r.version}
	e.committedSince = max(r.since, 0)
	e.journal.committed.Store(r.committed)
	e.tellRecovery(r)
	if err := e.sweep(ctx); err != nil {
		return nil, err
	}
	return r.rerun, e.restoreSource(ctx)
}

// compare reads both logs and says what a start has to do. It changes nothing.
func (e *Engine) compare(ctx context.Context) (r recovery, err error) {
	// The tables first: what another process of this pipeline does in between makes the offset log newer than they are,
	// which is an ordinary state, and not the other way around.
	quarantine, err := e.readQuarantine(ctx)
	if err != nil {
		return r, err
	}
	if err := e.readLogs(ctx); err != nil {
		return r, err
	}
	if r, err = recoverFrom(e.Name, e.log.Plans(), e.log.Committed(), e.table); err != nil {
		return r, err
	}
	r.notices = append(r.notices, e.checkStart()...)
	err = e.checkQuarantine(ctx, quarantine, &r)
	return r, err
}

// checkStart tells of a start that was changed after it had its effect.
func (e *Engine) checkStart() []string {
	was := e.start()
	if e.Start == was {
		return nil
	}
	return []string{fmt.Sprintf("start is %s, and was %s when the pipeline began, which alone it decides: the run goes on from the saved positions; "+
		"to begin elsewhere, load the source into another table, under another pipeline name", e.Start, was)}
}

// start is where the source was told to begin when the pipeline was new. Plans that do not know it take the present one.
func (e *Engine) start() string {
	if newest := e.log.Newest(); newest != nil && newest.Start != "" {
		return newest.Start
	}
	return e.Start
}

// maxLooks bounds how often a start looks again because another process goes on meanwhile.
const maxLooks = 10

// readLogs reads the table and then the offset log. Where the plans know of a newer commit than the table shows, either
// the table went back or another process committed in between: it looks again until the table stays as it is.
func (e *Engine) readLogs(ctx context.Context) (err error) {
	for looks := 0; looks < maxLooks; looks++ {
		before := e.table
		if e.table, err = e.Table.Refresh(ctx); err != nil {
			return err
		}
		if looks > 0 && sameVersion(before, e.table) {
			return nil
		}
		if e.log, err = offsetlog.Open(ctx, e.Checkpoint, e.Name); err != nil {
			return unreadable(err, e.Name, e.table)
		}
		if known := e.log.Committed(); known == nil || e.table != nil && known.Batch <= e.table.Batch {
			return nil
		}
	}
	return fmt.Errorf("%w: it commits batches faster than a start can read what it has done", ErrFenced)
}

func sameVersion(a, b *TableState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && a.Version == b.Version
}

// Check returns the error with which a start would be refused, or nil. It changes nothing, and the engine is not to be
// used further.
func (e *Engine) Check(ctx context.Context) error {
	if _, err := e.compare(ctx); err != nil {
		return err
	}
	return e.restoreSource(ctx)
}

func (e *Engine) tellRecovery(r recovery) {
	notices := append(e.log.Notices(), r.notices...)
	if e.table != nil {
		notices = append(notices, e.table.Notices...)
	}
	for _, n := range notices {
		e.Events.notice(n)
	}
	if e.Events.Recovered != nil {
		e.Events.Recovered(r.committed, len(r.rerun))
	}
}

func (e *Engine) sweep(ctx context.Context) error {
	total := 0
	for _, s := range []storage.Store{e.Checkpoint, e.Bookkeeping} {
		if s == nil {
			continue
		}
		n, err := s.Sweep(ctx, func(string) (bool, error) { return true, nil })
		if err != nil {
			return err
		}
		total += n
	}
	for _, t := range []Table{e.Table, e.Quarantine} {
		if t == nil {
			continue
		}
		n, err := t.Sweep(ctx)
		if err != nil {
			return err
		}
		total += n
	}
	if total > 0 && e.Events.Swept != nil {
		e.Events.Swept(total)
	}
	return nil
}

func (e *Engine) restoreSource(ctx context.Context) error {
	plans := e.log.Plans()
	err := e.Source.Restore(ctx, source.History{
		First: len(plans) == 0,
		Batches: func(fn func(int64, []offsetlog.Range) error) error {
			for _, p := range plans {
				if err := fn(p.Batch, p.Ranges); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("restore the source's position: %w", err)
	}
	return nil
}

// nextBatch is the id of the batch after the newest plan.
func (e *Engine) nextBatch() int64 { return batchAfter(e.log) }

func batchAfter(log *offsetlog.Log) int64 {
	if newest := log.Newest(); newest != nil {
		return newest.Batch + 1
	}
	return 0
}
