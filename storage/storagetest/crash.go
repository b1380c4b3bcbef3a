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
	// Torn: half of what is written gets there, or half of the keys are deleted, then the process dies. For a put this is only asked of keys for which
	// tear says so: those of stores without atomic puts.
	Torn
	// Twice: what asks to store or to delete is applied two times, and the second answer is the one that comes back: a put
	// finds its own object. The process lives.
	Twice
	// Late: what asks to store, to publish or to delete returns ErrLost and takes effect only some operations later, or with
	// Deliver. The process lives.
	Late
	// Zombie: the process dies, and what it had asked to store, to publish or to delete takes effect with Deliver.
	Zombie
)

func (m Mode) String() string {
	return [...]string{"dies before", "dies after", "error after the effect", "torn", "applied twice", "applied late", "applied after death"}[m]
}

// Modes are those that any store may show, whose effects end with the process.
var Modes = []Mode{Before, After, Lost, Torn, Twice, Late}

// Lives says whether the process goes on, and may get over it.
func (m Mode) Lives() bool { return m == Lost || m == Twice || m == Late }

// counts says whether a mode can do something to an operation that it does not to others; only such are counted.
func (m Mode) counts(op *storage.Op) bool {
	switch m {
	case Twice:
		return op.Name == "put" || op.Name == "delete" || op.Name == "delete all"
	case Late, Zombie:
		return op.Name == "put" || op.Name == "delete" || op.Name == "delete all" || op.Name == "publish" || op.Name == "abort"
	default:
		return true
	}
}

// Crash is a process that dies, or is lied to, at its At-th operation over all the stores that it wraps.
type Crash struct {
	At   int // from 0, among the operations that the mode is about; negative: never
	Mode Mode
	// Only is the name of the operations that count; all when empty.
	Only string
	// Tear says which puts may be torn: a key's, in the store of that URL.
	Tear func(url, key string) bool
	// Delay is after how many more operations, of any kind, what is late takes effect; 0: with Deliver alone.
	Delay int

	mu   sync.Mutex
	n    int
	dead bool
	late func() error // not yet in effect
	wait int          // operations until it is
	Op   string       // the operation it happened at, for messages
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

// Deliver lets what is late take effect. Whoever asked for it has stopped listening.
func (c *Crash) Deliver() {
	c.mu.Lock()
	late := c.late
	c.late = nil
	c.mu.Unlock()
	if late != nil {
		_ = late()
	}
}

func (c *Crash) operation(url string, op *storage.Op, call func() error) error {
	here, dead := c.count(op)
	switch {
	case dead:
		return fmt.Errorf("%s %s: %w", op.Name, op.Key, ErrCrashed)
	case !here:
		err := call()
		if c.due() {
			c.Deliver()
		}
		return err
	case c.Mode == Lost:
		if err := call(); err != nil {
			return err
		}
		return ErrLost
	case c.Mode == Twice:
		_ = call()
		return call()
	case c.Mode == Late, c.Mode == Zombie:
		c.hold(call)
		return ErrLost
	case c.Mode == After:
		_ = call()
	case c.Mode == Torn && (op.Name == "write" || op.Name == "put" && c.Tear != nil && c.Tear(url, op.Key)):
		op.Body = op.Body[:len(op.Body)/2]
		_ = call()
	case c.Mode == Torn && op.Name == "delete all":
		op.Keys = op.Keys[:len(op.Keys)/2]
		_ = call()
	}
	return fmt.Errorf("%s %s: %w", op.Name, op.Key, ErrCrashed)
}

func (c *Crash) hold(call func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late, c.wait = call, c.Delay
}

// due counts an operation behind the late one, and says whether that takes effect with it.
func (c *Crash) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late == nil || c.Delay == 0 {
		return false
	}
	c.wait--
	return c.wait == 0
}

// count says whether this operation is the At-th, and whether the process is dead already. From the At-th on it is,
// unless the mode leaves it alive.
func (c *Crash) count(op *storage.Op) (here, dead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead || c.Only != "" && op.Name != c.Only || !c.Mode.counts(op) {
		return false, c.dead
	}
	here = c.n == c.At
	c.n++
	if here {
		c.Op = fmt.Sprintf("%s %s (%v)", op.Name, op.Key, c.Mode)
		c.dead = !c.Mode.Lives()
	}
	return here, false
}
