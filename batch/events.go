package batch

import (
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Events are told what the engine does, as it does it, one at a time. A nil function is silence. They must return soon.
type Events struct {
	// Notice is something that its owner should know of and that needs no action of the engine.
	Notice func(text string)
	// Recovered tells what a start found: the newest batch in the table (-1: none) and the batches to run again.
	Recovered func(committed int64, rerun int)
	// Swept tells how many leftovers of dead attempts were removed.
	Swept func(objects int)
	// Planned: the plan is durable; nothing has been read. Replay says that it is an old plan that is run again.
	Planned func(plan offsetlog.Plan, replay bool)
	// Progress tells how far the batch in flight is.
	Progress func(Progress)
	// BadRecord is one record that was skipped or quarantined.
	BadRecord func(Fault)
	// Lost are ranges that the source does not have any more and that were passed over, as configured.
	Lost func(ranges []offsetlog.Range)
	// Quarantined: the bad records of the batch are durable in the quarantine table.
	Quarantined func(batch int64, records int64, version int64)
	// Committed: the batch is in the table.
	Committed func(Done)
	// Empty: the batch had no rows. No commit was made for it; the next one covers it.
	Empty func(batch int64)
	// Lag tells how far the source is ahead of the newest plan: behind each plan, and when there is nothing to plan.
	Lag func(lag []source.Lag, waiting bool)
	// Took tells how long a phase of a batch was.
	Took func(phase Phase, d time.Duration)
	// Maintained tells of maintenance beside the run that was done or has failed. It alone is called from another goroutine,
	// which ends before the run does.
	Maintained func(Maintained)
	// Waits tells of a pause before the next look at the source.
	Waits func(pause time.Duration)
}

// Phase is a part of a batch's way.
type Phase string

const (
	// Planning asks the source and stores the plan.
	Planning Phase = "plan"
	// Reading reads, decodes and stages.
	Reading Phase = "read"
	// Publishing makes the bad records and the rows visible.
	Publishing Phase = "commit"
)

// And returns events that are told to e and then to f.
func (e Events) And(f Events) Events {
	return Events{
		Notice:      and1(e.Notice, f.Notice),
		Recovered:   and2(e.Recovered, f.Recovered),
		Swept:       and1(e.Swept, f.Swept),
		Planned:     and2(e.Planned, f.Planned),
		Progress:    and1(e.Progress, f.Progress),
		BadRecord:   and1(e.BadRecord, f.BadRecord),
		Lost:        and1(e.Lost, f.Lost),
		Quarantined: and3(e.Quarantined, f.Quarantined),
		Committed:   and1(e.Committed, f.Committed),
		Empty:       and1(e.Empty, f.Empty),
		Lag:         and2(e.Lag, f.Lag),
		Took:        and2(e.Took, f.Took),
		Maintained:  and1(e.Maintained, f.Maintained),
		Waits:       and1(e.Waits, f.Waits),
	}
}

func and1[A any](f, g func(A)) func(A) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(a A) { f(a); g(a) }
}

func and2[A, B any](f, g func(A, B)) func(A, B) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(a A, b B) { f(a, b); g(a, b) }
}

func and3[A, B, C any](f, g func(A, B, C)) func(A, B, C) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(a A, b B, c C) { f(a, b, c); g(a, b, c) }
}

// Progress is the state of the batch in flight.
type Progress struct {
	Batch   int64
	Rows    int64
	Bad     int64
	Bytes   int64 // read so far
	Planned int64 // bytes that the plan estimated; 0: unknown
}

// Done describes a committed batch.
type Done struct {
	Record   Record
	Commit   Commit
	Bytes    int64 // of the source
	Duration time.Duration
	Replay   bool
	// Requests are those that were made by kind, each try of each, from the look at what to plan to the commit; where batches overlap,
	// from the commit before. nil where nobody counts.
	Requests map[string]int64
}

// Fault is a bad record with its place.
type Fault struct {
	Batch  int64
	Where  string // "orders/3 offset 42", "a/b.ndjson line 7"
	Reason string
}

// took tells of a phase that has ended. It is timed by the monotonic clock, whatever the engine's says.
func (e *Events) took(phase Phase, d time.Duration) {
	if e.Took != nil {
		e.Took(phase, d)
	}
}

func (e *Events) notice(text string) {
	if e.Notice != nil {
		e.Notice(text)
	}
}
