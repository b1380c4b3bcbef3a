package batch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestMaintenanceRestsWhileTheRunWorks(t *testing.T) {
	const worked = time.Second
	for name, c := range map[string]struct {
		meanwhile func(b *Beside, stop func()) // ten seconds later
		waiting   bool
		worked    time.Duration
		rests     time.Duration
		err       error
	}{
		"a batch is in flight":           {nil, false, worked, restShare * worked, nil},
		"the run waits":                  {nil, true, worked, 0, nil},
		"it begins to wait":              {func(b *Beside, _ func()) { b.waits() }, false, worked, 10 * time.Second, nil},
		"another batch follows at once":  {func(b *Beside, _ func()) { b.caughtUp(true); b.works() }, false, worked, restShare * worked, nil},
		"it is stopped":                  {func(_ *Beside, stop func()) { stop() }, false, worked, 10 * time.Second, context.Canceled},
		"it seems to have taken an hour": {nil, false, time.Hour, longestRest, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				b := newBeside(nil)
				if c.waiting {
					b.waits()
				}
				if c.meanwhile != nil {
					time.AfterFunc(10*time.Second, func() { c.meanwhile(b, stop) })
				}
				began := time.Now()
				err := b.Rest(ctx, c.worked)
				if rested := time.Since(began); rested != c.rests || !errors.Is(err, c.err) {
					t.Errorf("it rested for %v, want %v: %v", rested, c.rests, err)
				}
			})
		})
	}
}

func TestARunIsBehindUntilABatchHadAllThereWas(t *testing.T) {
	b := newBeside(nil)
	for i, step := range []struct {
		do     func()
		behind bool
	}{
		{func() {}, true}, // nothing is known
		{func() { b.caughtUp(false) }, true},
		{func() { b.caughtUp(true) }, false},
		{func() { b.caughtUp(false) }, true},
		{b.waits, false},
		{b.works, false},
	} {
		if step.do(); b.Behind() != step.behind {
			t.Errorf("step %d: behind is %v", i, !step.behind)
		}
	}
}
