package batch

import (
	"context"
	"time"
)

// Maintainer keeps a table in shape beside the run that appends to it.
type Maintainer interface {
	// Maintain does one piece of work if one is due, and tells what came of it; nil when none is, which costs no request. It is
	// called behind commits, by one goroutine, and stops soon after ctx ends.
	Maintain(ctx context.Context) *Maintained
}

// Maintained is a piece of maintenance that was done or has failed.
type Maintained struct {
	Work    string // checkpoint
	Table   string // URL
	Version int64  // of the table
	Files   int64  // of the table, at that version
	Bytes   int64  // that were written
	Took    time.Duration
	// Err says why it was not done, nil when it was. The run goes on, and the work is tried again later.
	Err error
}

// maintenance is the goroutine that calls the maintainers, one after the other.
type maintenance struct {
	committed chan struct{} // holds a token when there are commits that they have not seen
	cancel    context.CancelFunc
	ended     chan struct{}
}

func (e *Engine) beginMaintenance(ctx context.Context) *maintenance {
	m := &maintenance{committed: make(chan struct{}, 1), ended: make(chan struct{})}
	ctx, m.cancel = context.WithCancel(ctx)
	go func() {
		defer close(m.ended)
		for range m.committed {
			e.maintain(ctx)
		}
	}()
	return m
}

// maintain has each maintainer look once. What a stop has ended is not told of.
func (e *Engine) maintain(ctx context.Context) {
	for _, t := range e.Maintainers {
		done := t.Maintain(ctx)
		if done == nil || done.Err != nil && ctx.Err() != nil {
			continue
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
	if !finish {
		m.cancel()
	}
	close(m.committed)
	<-m.ended
	m.cancel()
}
