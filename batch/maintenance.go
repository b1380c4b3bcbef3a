package batch

import (
	"context"
	"sync"
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
	tables    []Maintainer
	committed chan struct{} // holds a token when there are commits that they have not seen
	cancel    context.CancelFunc
	ended     chan struct{}

	mu   sync.Mutex
	done []Maintained // not yet told of
}

func beginMaintenance(ctx context.Context, tables []Maintainer) *maintenance {
	m := &maintenance{tables: tables, committed: make(chan struct{}, 1), ended: make(chan struct{})}
	ctx, m.cancel = context.WithCancel(ctx)
	go m.run(ctx)
	return m
}

func (m *maintenance) run(ctx context.Context) {
	defer close(m.ended)
	for range m.committed {
		for _, t := range m.tables {
			if done := t.Maintain(ctx); done != nil && (done.Err == nil || ctx.Err() == nil) {
				m.mu.Lock()
				m.done = append(m.done, *done)
				m.mu.Unlock()
			}
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

// take is what came of it since the last call.
func (m *maintenance) take() []Maintained {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := m.done
	m.done = nil
	return done
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

// tellMaintenance tells of what was maintained, from the goroutine that runs the engine, as all events are.
func (e *Engine) tellMaintenance(m *maintenance) {
	for _, done := range m.take() {
		if e.Events.Maintained != nil {
			e.Events.Maintained(done)
		}
	}
}
