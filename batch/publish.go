package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/storage"
)

// publishing is a batch that is staged, on its way into the table:
//
//	engine      plan N ─ stage N ─┬─ plan N+1 ─ stage N+1 ─┬─ publish N+1 …
//	publishing                    └─ publish N ────────────┘
//
// The engine goes on meanwhile only when there is more to read, and publishes nothing before this has ended well.
type publishing struct {
	flight *flight
	record *Record
	done   chan struct{} // closed when what follows is known
	commit Commit
	took   time.Duration
	err    error
}

// publish begins to make the batch visible. Unless there is more to read it waits for the end of that; so it does for the first batch of a
// run, which shows that the pipeline works, and for the one that makes the table.
func (e *Engine) publish(ctx context.Context, f *flight, more bool) error {
	record := e.record(f.plan, offsetlog.Merge(e.pending, f.plan.Ranges))
	record.Unknown, record.Tombstones = e.newlyUnknown(), e.newTombstones()
	if f.rows == 0 && f.bad == 0 && len(f.lost) == 0 {
		if err := e.passEmpty(ctx, f.plan); err != nil {
			return f.fail(ctx, err)
		}
		return nil
	}
	e.tombstones += record.Tombstones // also those of batches without a commit of their own
	record.PeakBytes = e.Memory.Budget().TakePeak()
	record.Rows, record.Bad, record.Lost = f.rows, f.bad, f.lost
	e.publishing = &publishing{flight: f, record: record, done: make(chan struct{})}
	go e.publishing.run(ctx, e.giveUp)
	if more && e.worked && e.hasTable() && !e.Settings.Sequential {
		return nil
	}
	return e.settled(ctx)
}

// run publishes: first the bad records, then the rows with the record that says that all is there. If that fails, giveUp ends what goes
// on beside it.
func (p *publishing) run(ctx context.Context, giveUp func()) {
	defer close(p.done)
	began := time.Now()
	if err := p.put(ctx); err != nil {
		p.err = p.flight.fail(ctx, err)
		giveUp()
	}
	p.took = time.Since(began)
}

func (p *publishing) put(ctx context.Context) (err error) {
	f := p.flight
	if err := f.rejects.commit(ctx); err != nil {
		return err
	}
	if err := f.begin(ctx); err != nil {
		return err
	}
	if p.commit, err = f.writer.Commit(ctx, p.record); err == nil {
		f.writer = nil
	}
	return err
}

// settled waits for the batch that is being published, if there is one, and returns the error that it failed with.
func (e *Engine) settled(ctx context.Context) error {
	if e.publishing == nil {
		return nil
	}
	<-e.publishing.done
	return e.conclude(storage.Finish(ctx))
}

// noteCommit is settled for who has something else to do: it does not wait, and leaves a failure to settled.
func (e *Engine) noteCommit(ctx context.Context) error {
	if e.publishing == nil {
		return nil
	}
	select {
	case <-e.publishing.done:
	default:
		return nil
	}
	if e.publishing.err != nil {
		return nil
	}
	return e.conclude(storage.Finish(ctx))
}

// conclude takes note of what came of the batch that was being published.
func (e *Engine) conclude(ctx context.Context) error {
	p := e.publishing
	e.publishing = nil
	f := p.flight
	e.quarantine(f.rejects)
	if p.err != nil {
		return p.err
	}
	e.Events.took(Publishing, p.took)
	if err := e.committedBatch(ctx, p.record, p.commit); err != nil {
		return fmt.Errorf("batch %d: %w", f.plan.Batch, err)
	}
	if e.Events.Committed != nil {
		e.Events.Committed(Done{Record: *p.record, Commit: p.commit, Bytes: f.bytes, Duration: time.Since(f.began), Replay: f.replay, Requests: e.requestsMade()})
	}
	return nil
}

// passEmpty leaves the position behind a batch without rows to the next commit.
func (e *Engine) passEmpty(ctx context.Context, plan offsetlog.Plan) error {
	if e.Events.Empty != nil {
		e.Events.Empty(plan.Batch)
	}
	e.pending, e.pendingPlan = offsetlog.Merge(e.pending, plan.Ranges), plan
	if plan.Batch-e.committed.Batch >= emptyBatches {
		return e.commitPending(ctx)
	}
	return nil
}

// record is the record of a commit that covers the pending batches and that of plan.
func (e *Engine) record(plan offsetlog.Plan, ranges []offsetlog.Range) *Record {
	return &Record{
		App: e.Name, Batch: plan.Batch, Since: e.committed.Batch + 1, Checkpoint: plan.Checkpoint, Time: plan.Time,
		Ranges: ranges, Fingerprint: e.Fingerprint,
	}
}

// committedBatch moves T.
func (e *Engine) committedBatch(ctx context.Context, record *Record, commit Commit) error {
	e.committed = offsetlog.Committed{Batch: record.Batch, Version: commit.Version}
	e.committedSince, e.committedAt = record.Since, time.Now()
	e.journal.committed.Store(record.Batch)
	e.pending = nil
	if !e.hasTable() {
		table, err := e.Table.Refresh(ctx)
		if err != nil {
			return err
		}
		e.table = table
	}
	e.files.take(commit.Files, commit.Bytes)
	if small := e.files.tooSmall(e.Table.URL(), e.table.TargetFileSize); small != "" && !e.Compacted && !e.saidSmall {
		e.saidSmall = true
		e.Events.notice(small)
	}
	if err := e.Source.Committed(ctx, record.Batch, record.Ranges); err != nil {
		e.Events.notice(fmt.Sprintf("batch %d is committed, but telling the source so failed, which only monitoring tools will notice: %v", record.Batch, err))
	}
	return nil
}

// commitPending commits the position behind batches without rows, if there are any.
func (e *Engine) commitPending(ctx context.Context) error {
	if len(e.pending) == 0 || e.table == nil {
		return nil // without a table the plans are the position
	}
	writer, err := e.Table.Begin(ctx)
	if err != nil {
		return err
	}
	record := e.record(e.pendingPlan, e.pending)
	commit, err := writer.Commit(ctx, record)
	if err != nil {
		return errors.Join(fmt.Errorf("commit the position of batch %d: %w", record.Batch, err), writer.Abort(ctx))
	}
	if err := e.committedBatch(ctx, record, commit); err != nil {
		return err
	}
	if e.Events.Committed != nil {
		e.Events.Committed(Done{Record: *record, Commit: commit, Requests: e.requestsMade()})
	}
	return nil
}

// hasTable says whether there is a table that the engine knows.
func (e *Engine) hasTable() bool { return e.table != nil && e.table.ID != "" }

// newlyUnknown is what the decoders have counted since the last call.
func (e *Engine) newlyUnknown() map[string]int64 {
	now := map[string]int64{}
	for _, d := range e.decoders {
		for path, n := range d.Unknown() {
			now[path] += n
		}
	}
	var fresh map[string]int64
	for path, n := range now {
		if d := n - e.unknown[path]; d > 0 {
			if fresh == nil {
				fresh = map[string]int64{}
			}
			fresh[path] = d
		}
	}
	e.unknown = now
	return format.BoundUnknown(fresh)
}

// newTombstones is how many the decoders have left out that are in no commit.
func (e *Engine) newTombstones() int64 {
	n := -e.tombstones
	for _, d := range e.decoders {
		n += d.Tombstones()
	}
	return n
}
