package retry

import (
	"context"
	"sync"
	"time"
)

const (
	shortestGap = 20 * time.Millisecond // the first step away from full speed, and below which there is none
	longestGap  = time.Second
)

// pacer keeps a gap between the beginnings of operations: none at first, doubled when the service throttles, a quarter
// less with each answer. The zero value is at full speed.
type pacer struct {
	mu     sync.Mutex
	gap    time.Duration
	next   time.Time // when the next operation may begin
	slowed time.Time // when the gap was last doubled
}

// wait waits for this operation's turn. One that has to be finished while the run is being stopped takes it at once.
func (p *pacer) wait(ctx context.Context) error {
	if gap := p.reserve(); gap > 0 {
		pause(ctx, gap)
	}
	return ctx.Err()
}

func (p *pacer) reserve() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap == 0 {
		return 0
	}
	now := time.Now()
	start := p.next
	if start.Before(now) {
		start = now
	}
	p.next = start.Add(p.gap)
	return start.Sub(now)
}

// slow doubles the gap, once for all operations that were refused together.
func (p *pacer) slow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.gap > 0 && now.Sub(p.slowed) < p.gap {
		return
	}
	p.slowed = now
	p.gap = min(max(2*p.gap, shortestGap), longestGap)
	if turn := now.Add(p.gap); p.next.Before(turn) {
		p.next = turn
	}
}

func (p *pacer) fast() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap -= p.gap / 4; p.gap < shortestGap/2 {
		p.gap = 0
	}
}
