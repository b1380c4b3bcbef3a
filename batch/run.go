package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// flight is a batch between its plan and its commit.
type flight struct {
	engine  *Engine
	plan    offsetlog.Plan
	replay  bool
	began   time.Time
	writer  Writer // nil while there is no row
	rejects *rejects
	lost    []offsetlog.Range
	rows    int64
	bad     int64
	bytes   int64
}

// runBatch reads and stages what was planned, and publishes it when the batch before is in the table. With more to read, that goes on
// beside the next batch, and settled tells what came of it. When a batch fails nothing of it is visible, and what was staged is gone as far
// as that can be done.
func (e *Engine) runBatch(ctx context.Context, plan offsetlog.Plan, replay, more bool) error {
	if e.Events.Planned != nil {
		e.Events.Planned(plan, replay)
	}
	if replay && plan.Fingerprint != e.Fingerprint {
		e.Events.notice(fmt.Sprintf("batch %d was planned by other logic (fingerprint %s) and is run by that of the pipeline's file now (%s)", plan.Batch, plan.Fingerprint, e.Fingerprint))
	}
	f := &flight{engine: e, plan: plan, replay: replay, began: time.Now(), rejects: &rejects{engine: e, plan: plan}}
	e.Memory.Budget().TakePeak()
	err := f.stage(ctx)
	if earlier := e.settled(ctx); earlier != nil { // nothing may follow it
		return errors.Join(earlier, f.abort(storage.Finish(ctx)))
	}
	if err != nil {
		return f.fail(ctx, err)
	}
	return e.publish(storage.Finish(ctx), f, more)
}

// fail drops what was staged of a batch that has failed.
func (f *flight) fail(ctx context.Context, err error) error {
	if abortErr := f.abort(storage.Finish(ctx)); abortErr != nil {
		err = errors.Join(err, fmt.Errorf("clear up: %w", abortErr))
	}
	return fmt.Errorf("batch %d: %w", f.plan.Batch, err)
}

// stage reads, decodes and writes what was planned, so that only commits are left to be made.
func (f *flight) stage(ctx context.Context) error {
	switch err := f.engine.openDecoders(ctx, f.plan); {
	case errors.Is(err, ErrNoRecords) && !slices.ContainsFunc(f.plan.Ranges, isLost):
		return nil
	case err != nil:
		return err
	}
	lost, err := f.read(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // the last moment to stop without a trace
	}
	f.lost = lost
	for _, r := range f.plan.Ranges {
		if r.Lost {
			f.lost = append(f.lost, r)
		}
	}
	if len(f.lost) > 0 && f.engine.Events.Lost != nil {
		f.engine.Events.Lost(f.lost)
	}
	if err := f.finish(storage.Finish(ctx)); err != nil {
		return err
	}
	f.engine.Events.took(Reading, time.Since(f.began))
	return nil
}

// finish completes the files of bad records and rows.
func (f *flight) finish(ctx context.Context) error {
	if err := f.rejects.finish(ctx); err != nil || f.writer == nil {
		return err
	}
	return f.writer.Finish(ctx)
}

// read decodes and stages what was planned. Of several errors it returns that of the earliest record, unless that is a bad one: it may come of a
// file that is damaged, which is known at the file's end. So all is read again then, and what is wrong with the source comes first.
func (f *flight) read(ctx context.Context) (lost []offsetlog.Range, err error) {
	w := decodeBeside(f.engine.decoders, f.engine.Memory, f.engine.Settings.OnError, func(r *run) error { return f.settle(ctx, r) })
	lost, err = f.engine.Source.Read(ctx, f.plan.Ranges, func(b *source.Block) error { return w.take(ctx, b) })
	if decodeErr := w.end(); decodeErr != nil {
		err = decodeErr
	}
	if bad := (*BadRecordError)(nil); errors.As(err, &bad) {
		_, wrong := f.engine.Source.Read(ctx, f.plan.Ranges, func(*source.Block) error { return nil })
		if wrong != nil && ctx.Err() == nil {
			err = wrong
		}
	}
	return lost, err
}

// openDecoders makes the decoders. For a new table without declared columns that reads the first batch once to infer them.
func (e *Engine) openDecoders(ctx context.Context, plan offsetlog.Plan) error {
	if len(e.decoders) > 0 {
		return nil
	}
	var lost []offsetlog.Range
	open, err := e.Decoding(ctx, e.table, func(emit func(*source.Block) error) (err error) {
		lost, err = e.Source.Read(ctx, plan.Ranges, emit)
		return err
	})
	switch {
	case errors.Is(err, ErrNoRecords) && len(lost) > 0:
		return fmt.Errorf("the source lost all records of the batch, from which the columns were to be inferred: %s; declare the columns in the pipeline's file", offsetlog.ListRanges(lost))
	case err != nil:
		return err
	}
	decoders := make([]format.Decoder, e.Settings.Parallelism)
	for i := range decoders {
		if decoders[i], err = open(); err != nil {
			return err
		}
	}
	e.decoders = decoders
	return nil
}

// settle applies the policy to the run's bad records, and hands its rows to the writer.
func (f *flight) settle(ctx context.Context, r *run) error {
	if err := f.engine.noteCommit(ctx); err != nil {
		return err
	}
	for _, bad := range r.bad {
		if err := f.reject(ctx, bad); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	f.bytes += r.bytes
	if r.rows != nil {
		if err := f.begin(ctx); err != nil {
			return err
		}
		f.rows += r.rows.NumRows()
		if err := f.writer.Write(ctx, r.rows); err != nil {
			return err
		}
	}
	if f.engine.Events.Progress != nil {
		f.engine.Events.Progress(Progress{Batch: f.plan.Batch, Rows: f.rows, Bad: f.bad, Bytes: f.bytes})
	}
	return ctx.Err()
}

func (f *flight) begin(ctx context.Context) (err error) {
	if f.writer == nil {
		f.writer, err = f.engine.Table.Begin(ctx)
	}
	return err
}

// reject applies the policy for bad records.
func (f *flight) reject(ctx context.Context, bad rejected) error {
	fault := Fault{Batch: f.plan.Batch, Where: fmt.Sprintf("%s %s %d", bad.Partition, bad.place, bad.Position), Reason: bad.Reason}
	settings := f.engine.Settings
	if settings.OnError == Fail {
		return &BadRecordError{fault, "bad record", "mend the source, declare the column otherwise, or set on_error to skip or quarantine"}
	}
	f.bad++
	if settings.MaxBadRecords > 0 && f.bad > settings.MaxBadRecords {
		return &BadRecordError{fault, fmt.Sprintf("more than %d bad records (on_error.max_bad_records), the last", settings.MaxBadRecords), "look at the reasons in the log; mend the source, or raise max_bad_records"}
	}
	if f.engine.Events.BadRecord != nil {
		f.engine.Events.BadRecord(fault)
	}
	if settings.OnError == Quarantine {
		return f.rejects.add(ctx, bad.Bad)
	}
	return nil
}

func isLost(r offsetlog.Range) bool { return r.Lost }

// countRequests begins to count those of one step.
func (e *Engine) countRequests() {
	if e.Requests != nil {
		e.requests = e.Requests()
	}
}

// requestsMade are those since countRequests.
func (e *Engine) requestsMade() map[string]int64 {
	if e.Requests == nil {
		return nil
	}
	made := e.Requests()
	for kind, before := range e.requests {
		if made[kind] -= before; made[kind] == 0 {
			delete(made, kind)
		}
	}
	return made
}

func (f *flight) abort(ctx context.Context) error {
	err := f.rejects.abort(ctx)
	if f.writer != nil {
		err = errors.Join(err, f.writer.Abort(ctx))
	}
	return err
}
