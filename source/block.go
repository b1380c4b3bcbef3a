package source

import "sync/atomic"

// Block is a run of records of one partition, in order. It and all that it refers to are valid until the emit function
// that got it returns, or, if that has called Retain, until Release is called as often as Retain was.
type Block struct {
	Partition string   // as in Range
	Values    [][]byte // one a record; nil for a Kafka tombstone. What follows in memory may be read, and is another's: nothing may be appended
	Positions []int64  // one a record: Kafka offset, or line in the file, from 1
	Faults    []Fault  // records that the source or the framing knows to be bad, by index; usually none
	Bytes     int64    // source bytes behind this block (compressed size of a file's part is not known: decoded bytes)

	File  *File  // set by files
	Kafka *Kafka // set by kafka

	// Free, if set, is called when nobody holds the block any more, from whatever goroutine gave it up last.
	Free func()

	retained int32 // holds beside that of who emits it
}

// Retain holds the block until Release. Safe for concurrent use.
func (b *Block) Retain() { atomic.AddInt32(&b.retained, 1) }

// Release gives up one hold: one of Retain's, or that of who emits the block. A source may use the block again after the
// last. Safe for concurrent use.
func (b *Block) Release() {
	if atomic.AddInt32(&b.retained, -1) >= 0 {
		return
	}
	b.retained = 0
	if b.Free != nil {
		b.Free()
	}
}
