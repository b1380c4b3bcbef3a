// Package memory bounds what the parts of a pipeline hold together.
//
// A Budget is a number of bytes. Parts open Accounts in it (fetch, decode, write, upload), each with a share that is
// always its own; what is in no share is free, and an account may borrow it. An account counts what its part says that
// it holds; it allocates nothing.
//
// Invariants:
//
//   - Only a ReadAhead waits, and only for its own account, whose holder gives back what it has emitted. So nothing that
//     holds bytes of one account ever waits for another's, and there is no deadlock.
//   - A ReadAhead does not borrow: it runs as far ahead as it may, and would leave nothing to those that write.
//   - Whoever does not wait (a writer) asks for its Room, and writes out earlier what it holds when there is none.
package memory

import "sync"

// Budget is a number of bytes that accounts share. Safe for concurrent use, as are its accounts.
type Budget struct {
	total int64

	mu       sync.Mutex
	changed  *sync.Cond // something was given back
	accounts []*Account
	held     int64
	peak     int64
}

// New returns a budget of so many bytes.
func New(total int64) *Budget {
	b := &Budget{total: total}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// Total is the budget's size in bytes.
func (b *Budget) Total() int64 { return b.total }

// Account is one part's account.
type Account struct {
	budget *Budget
	name   string
	share  int64
	held   int64 // guarded by budget.mu, as is peak
	peak   int64
}

// Open opens an account with a share of so many bytes.
func (b *Budget) Open(name string, share int64) *Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := &Account{budget: b, name: name, share: share}
	b.accounts = append(b.accounts, a)
	return a
}

// Unshared is what is in no account's share, in bytes.
func (b *Budget) Unshared() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.total
	for _, a := range b.accounts {
		left -= a.share
	}
	return max(0, left)
}

// Budget is where the account is.
func (a *Account) Budget() *Budget { return a.budget }

// Share is what is always the account's own, in bytes.
func (a *Account) Share() int64 { return a.share }

// Room is how many bytes more the account may hold: what is left of its share, and what is free. 0 when it holds too much.
func (a *Account) Room() int64 {
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	free := a.budget.total
	for _, other := range a.budget.accounts {
		free -= max(other.share, other.held)
	}
	return max(0, a.share-a.held) + max(0, free)
}

// Add counts bytes that the part now holds, or (negative) has given up. It never waits, and never refuses.
func (a *Account) Add(bytes int64) {
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.add(bytes)
}

// add is called with the budget's mu held.
func (a *Account) add(bytes int64) {
	a.held += bytes
	a.peak = max(a.peak, a.held)
	a.budget.held += bytes
	a.budget.peak = max(a.budget.peak, a.budget.held)
	if bytes < 0 {
		a.budget.changed.Broadcast()
	}
}

// Use is what an account holds, in bytes.
type Use struct {
	Account string `json:"account"`
	Share   int64  `json:"share"`
	Held    int64  `json:"held"`
	Peak    int64  `json:"peak"` // most that it ever held
}

// Use tells what each account holds, in the order in which they were opened.
func (b *Budget) Use() []Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	uses := make([]Use, len(b.accounts))
	for i, a := range b.accounts {
		uses[i] = Use{Account: a.name, Share: a.share, Held: a.held, Peak: a.peak}
	}
	return uses
}

// TakePeak is the most that all accounts together have held since the last call.
func (b *Budget) TakePeak() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	peak := b.peak
	b.peak = b.held
	return peak
}
