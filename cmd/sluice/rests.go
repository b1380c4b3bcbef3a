package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
)

const (
	// restShare is by how much longer than it has worked maintenance rests while others commit: it takes a quarter of the time.
	restShare = 3
	// longestRest is how long it rests at most, also when it was stopped meanwhile and seems to have worked for hours.
	longestRest = 30 * time.Second
	// othersFor is for how long others count as at work behind their newest commit.
	othersFor = 10 * time.Second
	// lookAgain is how often at most it is looked for commits.
	lookAgain = 200 * time.Millisecond
)

// rests are the pauses of maintenance while others commit to the table, who may be on the same machine: their batches wait for their fsyncs,
// and these for all else that is written to the disk. nil never rests.
type rests struct {
	log    *commitlog.Log
	known  int64     // the newest version that has been seen, or is our own
	looked time.Time // for others' commits
	others time.Time // when one was seen
	since  time.Time // when work began, or went on
	taken  time.Duration
}

func (a *app) hurryFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.hurry, "hurry", false, "do not rest while others commit to the table")
}

// rests are those of work that began at a time, on a table of which it knows a version.
func (a *app) rests(log *commitlog.Log, known int64, began time.Time) *rests {
	if a.hurry {
		return nil
	}
	return &rests{log: log, known: known, since: began}
}

// rest is called after each part of the work. Where the log cannot be read nobody is seen to commit: work that needs it will say so.
func (r *rests) rest(ctx context.Context) {
	if r == nil {
		return
	}
	now := time.Now()
	if now.Sub(r.looked) >= lookAgain {
		r.looked = now
		if h, err := r.log.Refresh(ctx); err == nil && h.Version > r.known {
			r.known, r.others = h.Version, now
		}
	}
	if now.Sub(r.others) < othersFor {
		select {
		case <-time.After(min(restShare*now.Sub(r.since), longestRest)):
		case <-ctx.Done():
		}
		r.taken += time.Since(now)
	}
	r.since = time.Now()
}

// committed is called after a commit of the work itself: others' may be before it.
func (r *rests) committed(version int64) {
	if r == nil {
		return
	}
	if version > r.known+1 {
		r.others = time.Now()
	}
	r.known = max(r.known, version)
}

// seconds is how long it has rested.
func (r *rests) seconds() float64 {
	if r == nil {
		return 0
	}
	return r.taken.Seconds()
}
