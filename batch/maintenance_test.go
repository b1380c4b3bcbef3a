package batch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicedata/sluice/storage/local"
)

// chore takes an hour each time; due is how often it is still to be done.
type chore struct {
	t       *testing.T
	due     int
	running bool
	done    int
	err     error
}

func (c *chore) Maintain(ctx context.Context, _ *Beside) *Maintained {
	if c.due == 0 {
		return nil
	}
	if c.running {
		c.t.Error("two at a time")
	}
	c.running = true
	defer func() { c.running = false }()
	select {
	case <-time.After(time.Hour):
	case <-ctx.Done():
		return &Maintained{Err: ctx.Err()}
	}
	c.due--
	c.done++
	return &Maintained{Work: "chore", Version: int64(c.done), Err: c.err}
}

// maintained is an engine that has these maintainers only, and tells of what they do.
func maintained(t *testing.T, tell func(Maintained), of ...Maintainer) *Engine {
	return New(Config{Checkpoint: local.New(t.TempDir()), Maintainers: of, Events: Events{Maintained: tell}, Now: time.Now})
}

func TestMaintenanceGoesOnBesideTheRunAndIsAwaitedByItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing, whole := &chore{t: t, due: 3, err: errors.New("the disk is full")}, &chore{t: t, due: 1}
		var told []Maintained
		e := maintained(t, func(d Maintained) { told = append(told, d) }, failing, whole)
		m := e.beginMaintenance(t.Context())
		began := time.Now()
		for range 5 {
			m.look() // while the first hour passes
			synctest.Wait()
		}
		if time.Since(began) != 0 {
			t.Error("it is waited for")
		}
		m.end(true)
		if time.Since(began) != 3*time.Hour || failing.done != 2 || whole.done != 1 {
			t.Errorf("after %v: %d and %d", time.Since(began), failing.done, whole.done)
		}
		if len(told) != 3 || told[0].Err == nil || told[1].Err != nil || told[2].Err == nil {
			t.Errorf("told of %+v", told)
		}
	})
}

func TestAStopEndsMaintenanceAtOnce(t *testing.T) {
	for name, stop := range map[string]func(*maintenance, func()){
		"while it runs":           func(m *maintenance, cancel func()) { cancel(); m.end(false) },
		"by an error of the run":  func(m *maintenance, _ func()) { m.end(false) },
		"while it is waited for":  func(m *maintenance, cancel func()) { time.AfterFunc(time.Minute, cancel); m.end(true) },
		"when it was not looking": func(m *maintenance, cancel func()) { cancel(); m.look(); m.end(false) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := &chore{t: t, due: 3}
				e := maintained(t, func(d Maintained) { t.Errorf("told of %+v", d) }, c, &chore{t: t, due: 1})
				m := e.beginMaintenance(ctx)
				m.look()
				synctest.Wait()
				began := time.Now()
				stop(m, cancel)
				if took := time.Since(began); took > time.Minute || c.done > 0 {
					t.Errorf("it took %v, and was done %d times", took, c.done)
				}
			})
		})
	}
}

// looks counts how often something is looked for.
type looks struct{ n int }

func (l *looks) Maintain(context.Context, *Beside) *Maintained {
	l.n++
	return nil
}

func TestMaintenanceIsLookedForWithoutCommitsAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &looks{}
		m := maintained(t, nil, l).beginMaintenance(t.Context())
		time.Sleep(3*looksAgain + time.Second)
		if synctest.Wait(); l.n != 3 {
			t.Errorf("%d looks in three minutes", l.n)
		}
		if m.end(true); l.n != 4 {
			t.Errorf("%d looks behind the end", l.n)
		}
	})
}
