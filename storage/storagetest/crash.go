package storagetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/sluicedata/sluice/storage"
)

// ErrCrashed is what every operation of a dead process returns.
var ErrCrashed = errors.New("the process is dead")

// ErrLost is the answer of an operation that took effect although it says otherwise.
var ErrLost = errors.New("connection reset after the request was sent")

// Mode says what happens at the chosen operation of a Crash.
type Mode int

const (
	// Before: the process dies, the operation is not made.
	Before Mode = iota
	// After: the operation is made, then the process dies.
	After
	// Lost: the operation is made, but returns ErrLost. The process lives.
	Lost
	// Torn: half of what is written gets there, then the process dies. For a put this is only asked of keys for which
	// tear says so: those of stores without atomic puts.
	Torn
)

func (m Mode) String() string {
	return [...]string{"dies before", "dies after", "error after the effect", "torn"}[m]
}

// Modes are all of them.
var Modes = []Mode{Before, After, Lost, Torn}

// Crash is a process that dies, or is lied to, at its At-th operation over all the stores that it wraps.
type Crash struct {
	At   int // from 0; negative: never
	Mode Mode
	// Tear says which puts may be torn: a key's, in the store of that URL.
	Tear func(url, key string) bool

	mu   sync.Mutex
	n    int
	dead bool
	Op   string // the operation it happened at, for messages
}

// Ops is the number of operations so far.
func (c *Crash) Ops() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// Happened says whether the At-th operation was reached.
func (c *Crash) Happened() bool { return c.At >= 0 && c.Ops() > c.At }

// Wrap returns a view of s that shares this process's fate.
func (c *Crash) Wrap(s storage.Store) storage.Store {
	return storage.Wrap(s, func(op *storage.Op, call func() error) error { return c.operation(s.URL(), op, call) })
}

func (c *Crash) operation(url string, op *storage.Op, call func() error) error {
	here, dead := c.count(op)
	switch {
	case dead:
		return fmt.Errorf("%s %s: %w", op.Name, op.Key, ErrCrashed)
	case !here:
		return call()
	case c.Mode == Lost:
		if err := call(); err != nil {
			return err
		}
		return ErrLost
	case c.Mode == After:
		_ = call()
	case c.Mode == Torn && (op.Name == "write" || op.Name == "put" && c.Tear != nil && c.Tear(url, op.Key)):
		op.Body = op.Body[:len(op.Body)/2]
		_ = call()
	}
	return fmt.Errorf("%s %s: %w", op.Name, op.Key, ErrCrashed)
}

// count says whether this operation is the At-th, and whether the process is dead already. From the At-th on it is,
// unless the mode leaves it alive.
func (c *Crash) count(op *storage.Op) (here, dead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return false, true
	}
	here = c.n == c.At
	c.n++
	if here {
		c.Op = fmt.Sprintf("%s %s (%v)", op.Name, op.Key, c.Mode)
		c.dead = c.Mode != Lost
	}
	return here, false
}
