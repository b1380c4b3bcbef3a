package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// Maintainer keeps a table in shape beside the run that appends to it.
type Maintainer interface {
	// Maintain does one piece of work if one is due, and tells what came of it; nil when none is, which costs no request. It is
	// called behind commits, now and then while there are none, and at the end of a run, by one goroutine; and stops soon after ctx
	// ends.
	Maintain(ctx context.Context, beside *Beside) *Maintained
}

// Maintained is a piece of maintenance that was done or has failed.
type Maintained struct {
	Work    string // checkpoint, cleanup, compact or vacuum
	Table   string // URL
	Version int64  // of the table
	Files   int64  // of the table, in the log checkpoint; that became fewer; or that were deleted
	Bytes   int64  // that were written, or deleted
	Took    time.Duration
	// Err says why it was not done, nil when it was. The run goes on, and the work is tried again later.
	Err error
}

// looksAgain is how long nothing is looked for without commits.
const looksAgain = time.Minute

// maintenance is the goroutine that calls the maintainers, one after the other.
type maintenance struct {
	beside    *Beside
	committed chan struct{} // holds a token when there are commits that they have not seen
	cancel    context.CancelFunc
	ended     chan struct{}
}

func (e *Engine) beginMaintenance(ctx context.Context) *maintenance {
	m := &maintenance{beside: newBeside(e.chores()), committed: make(chan struct{}, 1), ended: make(chan struct{})}
	ctx, m.cancel = context.WithCancel(ctx)
	go func() {
		defer close(m.ended)
		tick := time.NewTicker(looksAgain)
		defer tick.Stop()
		for m.next(tick.C) {
			e.maintain(ctx, m.beside)
		}
	}()
	return m
}

// next waits until there is something to look at, and is false when there never is any more.
func (m *maintenance) next(tick <-chan time.Time) (open bool) {
	select {
	case _, open = <-m.committed:
		return open
	case <-tick:
	}
	select {
	case _, open = <-m.committed:
		return open
	default:
		return true
	}
}

// chores are those of the checkpoint.
func (e *Engine) chores() *chores {
	return &chores{entries: entries{e.Checkpoint, choreFolder}, judge: e.Judge, now: e.Now}
}

// maintain has each maintainer look once. What a stop has ended is not told of.
func (e *Engine) maintain(ctx context.Context, beside *Beside) {
	for _, t := range e.Maintainers {
		done := t.Maintain(ctx, beside)
		if done == nil || done.Err != nil && ctx.Err() != nil {
			continue
		}
		if err := beside.chores.take(storage.Finish(ctx), done); err != nil {
			done.Err = errors.Join(done.Err, fmt.Errorf("remember it for status: %w", err))
		}
		if e.Events.Maintained != nil {
			e.Events.Maintained(*done)
		}
	}
}

// look has the maintainers look whether something is due, soon. It does not wait.
func (m *maintenance) look() {
	select {
	case m.committed <- struct{}{}:
	default:
	}
}

// end waits until what is due has been done, or gives it up.
func (m *maintenance) end(finish bool) {
	if finish {
		m.beside.waits()
		m.look()
	} else {
		m.cancel()
	}
	close(m.committed)
	<-m.ended
	m.cancel()
}
