package kafka

import (
	"context"
	"sync"
)

// budget bounds the bytes of decoded records that wait to be emitted. One job is the head, whose records are emitted
// next: it may always hold one response, so that the others cannot keep it from going on. Safe for concurrent use.
type budget struct {
	mu      sync.Mutex
	changed *sync.Cond
	limit   int64
	used    int64
	head    int           // number of the head job
	held    map[int]int64 // by job
}

func newBudget(limit int64) *budget {
	b := &budget{limit: limit, held: map[int]int64{}}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// reserve waits until the job may hold so many bytes more.
func (b *budget) reserve(ctx context.Context, job int, bytes int64) error {
	stop := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.used+bytes > b.limit && (job != b.head || b.held[job] > 0) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.changed.Wait()
	}
	b.add(job, bytes)
	return nil
}

// settle corrects a reservation to what came, or releases (negative) what was emitted.
func (b *budget) settle(job int, difference int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(job, difference)
	if difference < 0 {
		b.changed.Broadcast()
	}
}

// add is called with mu held.
func (b *budget) add(job int, bytes int64) {
	b.used += bytes
	b.held[job] += bytes
	if b.held[job] == 0 {
		delete(b.held, job)
	}
}

// moveHead makes another job the head.
func (b *budget) moveHead(job int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.head = job
	b.changed.Broadcast()
}
