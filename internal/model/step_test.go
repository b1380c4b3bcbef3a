package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// step is one operation of a handle.
type step struct {
	*world
	*handle
	create *table.Create // the table that an append makes; nil: there is one
	inner  bool          // it happens in the middle of another one
	passed bool          // there was another one in the middle of it

	label   string // of the commit that is asked for; empty for none, or for one that is known by its operation
	version int64  // that the commit is said to have got; -1: none
	excused bool   // it may fail, as what it wants cannot be had
}

// operation is what a handle can do.
type operation struct {
	name string
	run  func(*step) error
}

// choose chooses one, each as often as it is named.
func choose(random *rand.Rand) operation {
	operations := []operation{
		{"append", (*step).append},
		{"append", (*step).append},
		{"append", (*step).append},
		{"append", (*step).append},
		{"replay", (*step).replay},
		{"compact", (*step).compact},
		{"compact", (*step).compact},
		{"put in order", (*step).order},
		{"checkpoint", (*step).checkpoint},
		{"cleanup", (*step).cleanup},
		{"vacuum", (*step).vacuum},
		{"lite vacuum", (*step).liteVacuum},
		{"sweep", (*step).sweep},
		{"set properties", (*step).setProperties},
		{"cluster by", (*step).clusterBy},
		{"add a column", (*step).addColumn},
		{"widen a column", (*step).widenColumn},
		{"restore", (*step).restore},
		{"delete", (*step).remove},
		{"delete", (*step).remove},
		{"repair", (*step).repair},
	}
	return operations[random.IntN(len(operations))]
}

// step takes one, often with a fault.
func (w *world) step() {
	at := w.random.IntN(len(w.handles))
	h := w.handles[at]
	*h.crash = storagetest.Crash{At: -1, Delay: 1 + w.random.IntN(4)}
	if w.random.IntN(3) == 0 {
		h.crash.Mode = storagetest.Modes[w.random.IntN(len(storagetest.Modes))]
		h.crash.At = w.random.IntN(25)
	}
	w.perform(&step{world: w, handle: h})
	if h.crash.Happened() || w.random.IntN(8) == 0 {
		h.close()
		w.handles[at] = w.open(h.app)
	}
	w.clock = w.clock.Add(minutes(w.random.IntN(30)))
	if w.random.IntN(8) == 0 {
		w.clock = w.clock.AddDate(0, 0, 1)
	}
	w.check()
}

// between is where another handle may come in between.
func (s *step) between() {
	if s.inner || s.random.IntN(3) > 0 {
		return
	}
	s.passed = true
	other := s.handles[s.random.IntN(len(s.handles))]
	if other == s.handle { // a second process of the same application
		other = s.open(s.app)
		defer other.close()
	}
	*other.crash = storagetest.Crash{At: -1}
	s.perform(&step{world: s.world, handle: other, inner: true})
}

// perform runs an operation, has the model follow, and judges the outcome.
func (w *world) perform(s *step) {
	operation := choose(w.random)
	indent := ""
	if s.inner {
		indent = "  meanwhile "
	}
	w.tracef("%s%s: %s", indent, s.app, operation.name)
	s.version = -1
	err := operation.run(s)
	s.crash.Deliver()
	fault := ""
	if s.crash.Happened() {
		fault = ", " + s.crash.Op
	}
	w.tracef("  %s%s%s: %v", indent, s.app, fault, err)
	w.settle()
	s.judge(err)
}

func (s *step) judge(err error) {
	at, landed := s.landed[s.label]
	happened := s.crash.Happened()
	switch {
	case err == nil && s.label != "" && (!landed || at != s.version):
		s.fatalf("%s is said to be in version %d; it is in %d, %t", s.label, s.version, at, landed)
	case err == nil && s.version > s.newest():
		s.fatalf("there is no version %d", s.version)
	case err != nil && !happened && !s.excuses(err):
		s.fatalf("it failed")
	case err != nil && landed && (!happened || s.crash.Mode.Lives()) && !errors.As(err, new(*commitlog.UnknownError)):
		s.fatalf("%s is said to have failed; it is in version %d", s.label, at)
	}
}

// excuses says whether an operation may fail so without a fault of storage.
func (s *step) excuses(err error) bool {
	switch {
	case s.excused:
		return true
	case errors.As(err, new(*table.SchemaError)): // an append from before the table was changed
		return s.altered()
	case errors.As(err, new(*commitlog.ConflictError)), errors.As(err, new(*commitlog.FencedError)), strings.Contains(err.Error(), "start again"):
		return s.passed
	case s.lost != nil && (errors.Is(err, storage.ErrNotExist) || errors.As(err, new(*table.MissingError))):
		return s.inner
	}
	return s.keepsRows(err)
}

// keepsRows says whether an error is that of a table that takes appends alone, or has been such a table, which a handle may still have in mind.
func (w *world) keepsRows(err error) bool {
	return strings.Contains(err.Error(), appendOnly) && slices.ContainsFunc(w.versions, func(v version) bool { return v.appendsOnly })
}

// altered says whether the table has ever had another schema than now, which a handle may still have in mind.
func (w *world) altered() bool {
	return slices.ContainsFunc(w.versions, func(v version) bool { return v.schema != w.versions[w.newest()].schema })
}

// ask says what the commit does that is asked for next.
func (s *step) ask(what string, change func(rows) rows) {
	s.label = fmt.Sprintf("%s %d", what, len(s.asked))
	s.asked[s.label] = change
}
