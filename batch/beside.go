package batch

import (
	"context"
	"sync"
	"time"
)

// restShare is by how much longer than it has worked maintenance rests while a batch is in flight: it takes a twentieth of a core.
const restShare = 19

// longestRest is how long it rests at most, also when the process was stopped meanwhile and the work seems to have taken hours.
const longestRest = 5 * time.Minute

// Beside is what maintenance knows of the run that it goes on beside. Safe for concurrent use.
type Beside struct {
	chores *chores

	mu     sync.Mutex
	idle   chan struct{} // closed while the run waits for records, and when it has come to its end
	behind bool
}

func newBeside(c *chores) *Beside { return &Beside{chores: c, idle: make(chan struct{}), behind: true} }

// Behind says that the source has more than fitted into the newest batch, or may have: what is not urgent had better not be
// begun.
func (b *Beside) Behind() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.behind
}

// Rest is to be called after each part of a longer work, which took so long. While a batch is in flight it waits for a while,
// so that the run is hardly slowed; it returns at once when the run has nothing to do. Its error is that of ctx.
func (b *Beside) Rest(ctx context.Context, worked time.Duration) error {
	b.mu.Lock()
	idle := b.idle
	b.mu.Unlock()
	end := time.NewTimer(min(worked*restShare, longestRest))
	defer end.Stop()
	select {
	case <-idle:
	case <-end.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Past is what is known of a work on a table, also of earlier runs. The zero value is that of a work that was never done.
func (b *Beside) Past(ctx context.Context, work, table string) (Chore, error) {
	return b.chores.of(ctx, work, table)
}

// works says that a batch is looked for, or in flight.
func (b *Beside) works() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.idle:
		b.idle = make(chan struct{})
	default:
	}
}

// waits says that there is none, and the run has nothing to do.
func (b *Beside) waits() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behind = false
	select {
	case <-b.idle:
	default:
		close(b.idle)
	}
}

// caughtUp says whether the newest batch had all that there was.
func (b *Beside) caughtUp(all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behind = !all
}
