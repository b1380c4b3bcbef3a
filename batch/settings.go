package batch

import (
	"time"

	"github.com/sluicedata/sluice/source"
)

// Trigger says when batches are planned.
type Trigger struct {
	// Every is the interval between two looks at the source; used when Kind is Interval.
	Every time.Duration
	Kind  TriggerKind
}

// TriggerKind is one of Spark's kinds of trigger.
type TriggerKind int

const (
	// AvailableNow runs batches until everything is in the table that was there at the start, then ends.
	AvailableNow TriggerKind = iota
	// Continuous looks for new records again and again, without a pause while there are some.
	Continuous
	// Interval looks at fixed times, and then runs batches until nothing is left.
	Interval
)

// Policy says what becomes of bad records.
type Policy int

const (
	// Fail ends the run at the first bad record. Nothing of its batch is committed.
	Fail Policy = iota
	// Skip leaves bad records out and counts them in the commit.
	Skip
	// Quarantine appends them to the quarantine table before the batch is committed.
	Quarantine
)

// Settings are the engine's plain settings. The zero value runs what is available without limits and fails at the first
// bad record.
type Settings struct {
	Trigger    Trigger
	Limits     source.Limits
	MinRecords int64         // wait for this many, unless Trigger is AvailableNow
	MaxDelay   time.Duration // but not longer than this
	OnError    Policy
	// MaxBadRecords fails a batch that has more of them; 0: no limit.
	MaxBadRecords int64
	// MaxBatches ends the run after this many new or repeated batches; 0: no limit.
	MaxBatches int64
	// Sequential plans no batch before the one before is in the table, so that all is done in the same order each time.
	Sequential bool
	// Parallelism is how many decoders are at work; default GOMAXPROCS.
	Parallelism int
	// KeepPlans is how many plans stay in the offset log, so that a table that went back can be brought forward; default
	// 100.
	KeepPlans int64
	// Poll is the pause between two looks of a Continuous trigger at a source that has nothing new and cannot tell when it
	// has; default one second.
	Poll time.Duration
}

const (
	defaultKeepPlans = 100
	// A pipeline whose batches have no rows commits its position at the latest after so many batches, or so long.
	emptyBatches = 100
	emptyFor     = 10 * time.Minute

	defaultPoll = time.Second
	// Looks that find nothing take at most one part in lookShare of the time, unless they are longestPoll apart already.
	lookShare   = 200
	longestPoll = 10 * time.Second
	// fewPause is between two looks while too few records wait for more of them.
	fewPause = 100 * time.Millisecond
	// runRecords, runBytes and runBlocks bound what is decoded at a stretch into one Arrow record; a share of the decoders'
	// memory bounds it as well. More is better for the columns' encoders, less for the number of workers at work, and on one core, where
	// aloneRecords are the bound, for what is encoded while its caches have it still.
	runRecords   = 8192
	aloneRecords = 4096
	runBytes     = 4 << 20
	runShare     = 4
	runBlocks    = 1024
	// runsAhead is how many runs of each of several decoders may wait for the writer, which takes much longer over one that fills a row
	// group than over the others. The decoders' memory bounds them as well. Of a decoder alone, which has one core with the
	// writer, one may wait: more would only take memory.
	runsAhead = 4
	// ownMemory is the share, in bytes, of an engine that is given no account.
	ownMemory = 64 << 20
)
