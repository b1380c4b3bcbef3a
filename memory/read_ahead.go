package memory

import "context"

// ReadAhead is jobs that fetch side by side and whose bytes are emitted one job after the other. One job is the head, whose
// bytes are emitted next: it may always hold one reservation, so that the others cannot keep it from going on. Safe for
// concurrent use.
type ReadAhead struct {
	account *Account
	head    int           // number of the head job
	held    map[int]int64 // by job
}

// ReadAhead begins a run of jobs, which are numbered from 0 on.
func (a *Account) ReadAhead() *ReadAhead {
	return &ReadAhead{account: a, held: map[int]int64{}}
}

// Reserve waits until the job may hold so many bytes more.
func (r *ReadAhead) Reserve(ctx context.Context, job int, bytes int64) error {
	return r.Extend(ctx, job, 0, bytes)
}

// Extend is Reserve for a job that gives back nothing of own, which it holds already, before it has these bytes, too: the
// head gets them as soon as it holds no more than that.
func (r *ReadAhead) Extend(ctx context.Context, job int, own, bytes int64) error {
	b := r.account.budget
	stop := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for r.account.held+bytes > r.account.share && (job != r.head || r.held[job] > own) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.changed.Wait()
	}
	r.add(job, bytes)
	return nil
}

// Settle corrects a reservation to what came, or gives back (negative) what was emitted. After Close it does nothing.
func (r *ReadAhead) Settle(job int, difference int64) {
	r.account.budget.mu.Lock()
	defer r.account.budget.mu.Unlock()
	if r.held != nil {
		r.add(job, difference)
	}
}

// add is called with the budget's mu held.
func (r *ReadAhead) add(job int, bytes int64) {
	r.account.add(bytes)
	r.held[job] += bytes
	if r.held[job] == 0 {
		delete(r.held, job)
	}
}

// MoveHead makes another job the head.
func (r *ReadAhead) MoveHead(job int) {
	r.account.budget.mu.Lock()
	defer r.account.budget.mu.Unlock()
	r.head = job
	r.account.budget.changed.Broadcast()
}

// Close gives back what jobs still hold, also what was emitted and is still in use. All of them have ended.
func (r *ReadAhead) Close() {
	r.account.budget.mu.Lock()
	defer r.account.budget.mu.Unlock()
	for job, bytes := range r.held {
		r.add(job, -bytes)
	}
	r.held = nil
}
