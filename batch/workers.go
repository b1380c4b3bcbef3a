package batch

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/source"
)

// workers decode the blocks of one batch side by side, each with a decoder of its own, and hand on what became of them in
// the order of the blocks:
//
//	take ─ blocks ─▶ runs of blocks ─┬─▶ decoder ─┬─ in order ─▶ settle: bad records, rows ─▶ writer
//	                                 └─▶ decoder ─┘
//
// Where a run ends follows from the blocks alone, so that the records that reach the writer are the same with any number
// of workers. Run n is decoded by worker n modulo their number, so that what a decoder has learned and counted does not
// depend on which of them was faster.
//
// A run's blocks count in the account from take on, and its rows until settle has returned. A block is released as soon as
// it is decoded, whatever becomes of the runs before; so a source never waits for memory that only its next block would free.
type workers struct {
	ahead      *memory.ReadAhead // a job is a run
	runRecords int               // in a run's blocks, unless it has only one
	runBytes   int64             // of these blocks, likewise

	next    int  // number of the run after the open one
	open    *run // that takes blocks; nil: there is none
	lanes   []chan *run
	order   chan *run
	running sync.WaitGroup

	ended  chan struct{}
	failed chan struct{}
	err    error // the first one in the order of the blocks, once failed or ended is closed
}

// run is consecutive blocks, and then what became of them.
type run struct {
	number  int
	blocks  chan *source.Block
	records int
	bytes   int64

	done chan struct{} // closed when what follows is known
	bad  []rejected
	rows arrow.Record // nil: there are none
	held int64        // by the rows, in bytes
	err  error        // that ended it, behind bad and rows
}

// rejected is a bad record, with the word for its position.
type rejected struct {
	format.Bad
	place string
}

// errRejected ends the decoding of a run at a bad record that ends the batch.
var errRejected = errors.New("bad record")

// decodeBeside begins to decode with these decoders. settle gets each run that is done, in order; its error is returned by
// take or end, and no later run is settled.
func decodeBeside(decoders []format.Decoder, account *memory.Account, policy Policy, settle func(*run) error) *workers {
	w := &workers{
		ahead: account.ReadAhead(), runRecords: recordsOfARun(len(decoders)), runBytes: min(runBytes, account.Share()/runShare),
		order: make(chan *run, waitingRuns(len(decoders))), ended: make(chan struct{}), failed: make(chan struct{}),
	}
	for _, d := range decoders {
		lane := make(chan *run, runsAhead+1)
		w.lanes = append(w.lanes, lane)
		w.running.Go(func() {
			for r := range lane {
				r.decode(d, policy)
				w.ahead.Settle(r.number, r.held-r.bytes)
				close(r.done)
				if len(decoders) == 1 {
					runtime.Gosched() // to the writer, while the core's caches hold what it is to write
				}
			}
		})
	}
	go w.inOrder(settle)
	return w
}

// recordsOfARun is how many records are decoded at a stretch.
func recordsOfARun(decoders int) int {
	if decoders == 1 {
		return aloneRecords
	}
	return runRecords
}

// waitingRuns is how many runs may wait for the writer.
func waitingRuns(decoders int) int {
	if decoders == 1 {
		return 1
	}
	return runsAhead * decoders
}

// take hands over the next block, which it retains.
func (w *workers) take(ctx context.Context, b *source.Block) error {
	select {
	case <-w.failed:
		return w.err
	case <-ctx.Done():
		return ctx.Err()
	default:
	}
	if r := w.open; r != nil && (r.records+len(b.Values) > w.runRecords || r.bytes+b.Bytes > w.runBytes || len(r.blocks) == runBlocks) {
		w.closeRun()
	}
	if w.open == nil {
		w.begin()
	}
	if err := w.ahead.Reserve(ctx, w.open.number, b.Bytes); err != nil {
		return err
	}
	b.Retain()
	w.open.blocks <- b
	w.open.records += len(b.Values)
	w.open.bytes += b.Bytes
	return nil
}

func (w *workers) begin() {
	w.open = &run{number: w.next, blocks: make(chan *source.Block, runBlocks), done: make(chan struct{})}
	w.order <- w.open
	w.lanes[w.next%len(w.lanes)] <- w.open
	w.next++
}

func (w *workers) closeRun() {
	if w.open != nil {
		close(w.open.blocks)
		w.open = nil
	}
}

// end waits until all that was taken is settled, or something has failed.
func (w *workers) end() error {
	w.closeRun()
	for _, lane := range w.lanes {
		close(lane)
	}
	close(w.order)
	<-w.ended
	w.running.Wait()
	w.ahead.Close()
	return w.err
}

// inOrder settles the runs, and drops them behind one that failed.
func (w *workers) inOrder(settle func(*run) error) {
	defer close(w.ended)
	failed := false
	for r := range w.order {
		<-r.done
		if !failed {
			if w.err = settle(r); w.err != nil {
				failed = true
				close(w.failed)
			}
		}
		if r.rows != nil {
			r.rows.Release()
		}
		w.ahead.Settle(r.number, -r.held)
		w.ahead.MoveHead(r.number + 1)
	}
}

// decode decodes the blocks as they come.
func (r *run) decode(d format.Decoder, policy Policy) {
	for b := range r.blocks {
		if r.err == nil {
			r.err = d.Decode(b, func(bad format.Bad) error { return r.reject(b, bad, policy) })
		}
		b.Release()
	}
	if d.Rows() > 0 {
		r.held = d.Bytes()
		r.rows = d.Flush()
	}
}

// reject keeps a bad record, of whose bytes only the quarantine table has a use.
func (r *run) reject(b *source.Block, bad format.Bad, policy Policy) error {
	place := "line"
	if b.Kafka != nil {
		place = "offset"
	}
	if policy == Quarantine {
		bad.Value = bytes.Clone(bad.Value)
	} else {
		bad.Value = nil
	}
	r.bad = append(r.bad, rejected{bad, place})
	if policy == Fail {
		return errRejected
	}
	return nil
}
