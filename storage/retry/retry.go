// Package retry makes the operations of any storage.Store again when they fail for a while.
//
// It owns waiting: how long, how often, and when to give up. A Retrier is made for one client of a service, with a
// function by which the backend tells which of its errors pass (Classify); Wrap puts it around stores, Do around
// anything else that the backend does. All that shares a Retrier also shares its pace: when the service throttles one
// operation, all of them slow down, and speed up again as it answers.
//
// Invariants:
//
//   - A put-if-absent is made once. That its outcome is unknown is for the caller to settle, who reads back; here it
//     only takes its time, so that a caller who puts again does not do so in a tight loop.
//   - A write to a staged object is made once. Publish, Settle and Abort are made again only for errors that the backend
//     calls passing, which says that they may be.
//   - A listing goes on behind the last key that was seen, so none comes twice.
//   - Every wait ends at once when its context does, or the one that it finishes (storage.Finish).
package retry

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// Class says what an error means for another try.
type Class int

const (
	// Final errors stay: what was asked for is wrong, absent or forbidden.
	Final Class = iota
	// Transient errors pass: a connection was reset, a server had a fault of its own.
	Transient
	// Throttled errors pass when less is asked for.
	Throttled
)

// Policy bounds the tries of one operation. Zero fields have the defaults.
type Policy struct {
	Attempts int           // 10
	First    time.Duration // the longest wait after the first failure, doubled after each one: 100 ms
	Longest  time.Duration // bound of one wait: 20 s
	Budget   time.Duration // no try begins later than this after the first: 3 min
	// Failed, if set, is told of each error that passes. It is called from several goroutines.
	Failed func(err error)
	// Outages is told when operations have failed noticeable times, and when the service works again.
	Outages *Outages
	Service string // its name there
}

// noticeable is the number of failures from which on an operation is worth a word: then it has waited for a second or so.
const noticeable = 5

func (p Policy) withDefaults() Policy {
	if p.Attempts <= 0 {
		p.Attempts = 10
	}
	if p.First <= 0 {
		p.First = 100 * time.Millisecond
	}
	if p.Longest <= 0 {
		p.Longest = 20 * time.Second
	}
	if p.Budget <= 0 {
		p.Budget = 3 * time.Minute
	}
	return p
}

// wait is how long to wait after so many failures: a random part of a doubling bound, but not next to nothing.
func (p Policy) wait(failures int) time.Duration {
	bound := p.Longest
	if doubled := p.First << min(failures-1, 30); doubled > 0 && doubled < bound {
		bound = doubled
	}
	return bound/4 + rand.N(bound-bound/4)
}

// Retrier makes operations again. Safe for concurrent use.
type Retrier struct {
	classify func(error) Class
	policy   Policy
	pace     pacer
	failures atomic.Int32 // in a row, of what is made once
}

// New makes a retrier for a backend that classifies its errors.
func New(classify func(error) Class, policy Policy) *Retrier {
	return &Retrier{classify: classify, policy: policy.withDefaults()}
}

// Do calls fn until it succeeds, fails for good, or the policy is exhausted; then the error is fn's last one, with how
// often it was tried. When ctx ends, so does Do, with fn's last error and that of ctx.
func (r *Retrier) Do(ctx context.Context, fn func() error) error {
	begun := time.Now()
	for failures := 1; ; failures++ {
		if err := r.pace.wait(ctx); err != nil {
			return err
		}
		err := fn()
		if r.settle(ctx, err) == Final {
			return err
		}
		r.report(failures, begun, err)
		wait := r.policy.wait(failures)
		if failures == r.policy.Attempts || time.Since(begun)+wait > r.policy.Budget {
			return fmt.Errorf("%w (tried %d times in %v)", err, failures, time.Since(begun).Round(time.Millisecond))
		}
		if err := rest(ctx, wait, err); err != nil {
			return err
		}
	}
}

// once makes an operation that must not be made again here. The caller may do so: a passing error is returned only after
// the wait that would have come before another try, which grows while such operations fail.
func (r *Retrier) once(ctx context.Context, fn func() error) error {
	begun := time.Now()
	if err := r.pace.wait(ctx); err != nil {
		return err
	}
	err := fn()
	if r.settle(ctx, err) == Final {
		r.failures.Store(0)
		return err
	}
	failures := int(r.failures.Add(1))
	r.report(failures, begun, err)
	return cmp.Or(rest(ctx, r.policy.wait(failures), err), err)
}

// rest waits before another try of what has failed. It returns an error at once when there is to be none.
func rest(ctx context.Context, wait time.Duration, failed error) error {
	if pause(ctx, wait) {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%w; last try: %w", cause, failed)
	}
	return fmt.Errorf("%w (not tried again, since the run is being stopped)", failed)
}

// pause lets time pass, and says whether it did: nothing is waited for under a context that has ended, or that finishes one
// which has.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-storage.Stopping(ctx):
	}
	return false
}

// report tells of an operation that has failed so often since it was begun.
func (r *Retrier) report(failures int, begun time.Time, err error) {
	if failures >= noticeable {
		r.policy.Outages.Report(r.policy.Service, begun, fmt.Errorf("%s fails, and is asked again: %w", r.policy.Service, err))
	}
}

// settle classifies the outcome of an operation and lets the pace learn from it.
func (r *Retrier) settle(ctx context.Context, err error) Class {
	if err == nil {
		r.answered()
		return Final
	}
	if ctx.Err() != nil {
		return Final
	}
	class := r.classify(err)
	if class != Final && r.policy.Failed != nil {
		r.policy.Failed(err)
	}
	switch class {
	case Throttled:
		r.pace.slow()
	case Final:
		r.answered()
	}
	return class
}

func (r *Retrier) answered() {
	r.pace.fast()
	r.policy.Outages.Over(r.policy.Service)
}
