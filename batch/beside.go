package batch

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/memory"
)

// beside is a writer at work beside the decoder that fills the next record: on two cores a batch takes as long as the
// slower of the two. Not safe for concurrent use by several who hand over.
type beside struct {
	queue  chan handed
	ended  chan struct{}
	err    error // of the writer, once ended is closed
	memory *memory.Account
}

// handed is a record with what it counts for, in bytes, until it is written.
type handed struct {
	rows  arrow.Record
	bytes int64
}

// waiting is how many records may wait for the writer.
const waiting = 1

func writeBeside(ctx context.Context, w Writer, account *memory.Account) *beside {
	b := &beside{queue: make(chan handed, waiting), ended: make(chan struct{}), memory: account}
	go func() {
		defer close(b.ended)
		for h := range b.queue {
			b.err = w.Write(ctx, h.rows)
			b.drop(h)
			if b.err != nil {
				return
			}
		}
	}()
	return b
}

// hand gives a record to the writer, which releases it. The error is that of an earlier one.
func (b *beside) hand(h handed) error {
	select {
	case b.queue <- h:
		return nil
	case <-b.ended:
		b.drop(h)
		return b.err
	}
}

// end waits until all that was handed over is written, or has failed.
func (b *beside) end() error {
	close(b.queue)
	<-b.ended
	for h := range b.queue { // behind the one that failed
		b.drop(h)
	}
	return b.err
}

func (b *beside) drop(h handed) {
	h.rows.Release()
	b.memory.Add(-h.bytes)
}
