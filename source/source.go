// Package source says what a source is: something with partitions and positions, that can say what to read next and
// read exactly that, any number of times.
//
// source/files reads landing folders, source/kafka topics. A source never decides what has been read: the engine (batch)
// plans a batch with Next, records the plan, and only then moves the source on with Advance. A source hands over raw
// records, in blocks; turning bytes into columns is package format's.
//
// Invariants:
//
//   - Read gives the same records in the same order for the same ranges, or fails. Order is that of the ranges given;
//     inside one, by position.
//   - Nothing here writes to the source, but for offsets that a Kafka group shows to monitoring tools.
package source

import (
	"context"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
)

// Source is one set of partitions. Not safe for concurrent use, except that Lag may be called at any time, and Committed while Read goes on.
type Source interface {
	// Restore sets the position to the end of the given history. history calls fn with the ranges of each batch in order,
	// beginning with what Keep kept. It is called once, before anything else.
	Restore(ctx context.Context, history History) error

	// Bound makes Next stop at what is there now, so that a run over what is available ends although more arrives.
	Bound(ctx context.Context) error

	// Next says what the batch after the current position should read, within the limits. It does not move the position.
	// No ranges means that there is nothing new. It may do I/O (list a folder, ask for end offsets) but does not read
	// records.
	Next(ctx context.Context, limits Limits) (Planned, error)

	// Await waits after a call of Next that found nothing: until there may be something, at most for the time given. Where
	// nobody can tell, it waits for all of it. Its error is that of ctx; what else goes wrong is for the next call of Next to
	// find.
	Await(ctx context.Context, longest time.Duration) error

	// Advance moves the position past a batch whose plan has been recorded.
	Advance(batch int64, ranges []offsetlog.Range)

	// Read hands the records of the ranges to emit, block by block, and releases each block when emit has returned. An error
	// of emit ends it and is returned as it is.
	//
	// lost are the parts of the ranges that the source lost between plan and read, when it was told to go on
	// (on_data_loss: skip): each with Lost set, in the order of the ranges. Nothing was emitted for them.
	Read(ctx context.Context, ranges []offsetlog.Range, emit func(*Block) error) (lost []offsetlog.Range, err error)

	// Committed tells that the batch is in the table, for what monitoring wants to know (a Kafka group's offsets). Its
	// error is reported, never fatal.
	Committed(ctx context.Context, batch int64, ranges []offsetlog.Range) error

	// Keep makes the source remember by itself what plans up to and including batch say, since they are about to be
	// deleted.
	Keep(ctx context.Context, batch int64) error

	// Lag tells how far the end of each partition is ahead of the current position, as last known.
	Lag(ctx context.Context) ([]Lag, error)

	Close() error
}

// History is the past of a pipeline as its source has to know it.
type History struct {
	// Batches calls fn for every plan that is still in the offset log and is to count, in order of batch.
	Batches func(fn func(batch int64, ranges []offsetlog.Range) error) error
	// First is true for a pipeline without a past: only then does a configured start position count.
	First bool
	// Adopted is true when Batches gives the table's record of all that was ever committed, and nothing that was kept
	// before counts any more.
	Adopted bool
	// Since is the first batch that an adopted history tells of; not 0 when the table's log has been cleaned up.
	Since int64
}

// Limits bound one batch. Zero means no limit of that kind.
type Limits struct {
	MaxRecords int64
	MaxBytes   int64 // of source bytes
	MaxFiles   int64
}

// Planned is what a batch would read.
type Planned struct {
	Ranges  []offsetlog.Range
	Records int64 // upper bound or estimate; 0 when the source can't tell
	Bytes   int64 // the same
	More    bool  // there is more than the limits let in
	Notices []string
}

// Lag is the distance of one partition's end from the current position.
type Lag struct {
	Partition string `json:"partition"`
	Position  int64  `json:"position"`
	End       int64  `json:"end"`
	// Note says what keeps the partition from moving, when something does (an open transaction, a deleted topic).
	Note string `json:"note,omitempty"`
}

// Fault marks a record that cannot be decoded, whatever its bytes are.
type Fault struct {
	Index  int // into Values
	Reason string
}

// File is what all records of a block from a file share.
type File struct {
	Path     string
	Modified time.Time
}

// Kafka is what records of a block from Kafka bring beside their values.
type Kafka struct {
	Topic      string
	Partition  int32
	Timestamps []int64 // ms since the epoch, one a record
	Keys       [][]byte
	Headers    [][]Header // nil when no record of the block has headers
}

// Header is one Kafka record header.
type Header struct {
	Key   string
	Value []byte // may be nil
}
