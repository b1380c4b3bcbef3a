package batch

import (
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Events are told what the engine does, as it does it. A nil function is silence. They are called from the goroutine
// that runs the engine and must return soon.
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
	// Requests are those that the batch took by kind, each try of each, from the look at what to plan to the commit. nil
	// where nobody counts.
	Requests map[string]int64
}

// Fault is a bad record with its place.
type Fault struct {
	Batch  int64
	Where  string // "orders/3 offset 42", "a/b.ndjson line 7"
	Reason string
}

func (e *Events) notice(text string) {
	if e.Notice != nil {
		e.Notice(text)
	}
}
