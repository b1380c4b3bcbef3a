package commitlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// CleanupOptions say what a cleanup keeps besides what the table asks for.
type CleanupOptions struct {
	// Needs tells whether an application needs the commit of its newest txn action, whose commitInfo.userMetadata it is shown,
	// however old that is. Nil: none does.
	Needs func(appID, userMetadata string) bool
	// Now is the time that the retention is counted back from.
	Now time.Time
}

// Cleanup is what there is to be deleted of an expired log ("Metadata Cleanup"): all before a log checkpoint that is as old as
// commits have to become. That log checkpoint was whole and could be read, all of it.
type Cleanup struct {
	Before  time.Time // a midnight in UTC; what was committed later stays
	From    int64     // the oldest version that can be read afterwards; -1: nothing is deleted
	Why     string    // why nothing is deleted, empty if something may be
	Holders []Holder  // who needs commits that are older than Before
	Damaged []string  // keys of log checkpoints that were passed over

	log   *Log
	stale time.Time // sidecars and temporary files that are younger stay
}

// Holder is an application that needs a commit which is old enough to be deleted. It stays, and so do all behind it.
type Holder struct {
	AppID       string
	Batch       int64 // of its newest txn action
	Version     int64 // of the table
	LastUpdated time.Time
}

// PlanCleanup finds out what of the log has expired. It lists the log as far as that goes, and reads the log checkpoint from which on
// it stays. Errors are those of Refresh, an *UnsupportedError for features that decide what of the log is needed, and the storage's.
func (l *Log) PlanCleanup(ctx context.Context, o CleanupOptions) (*Cleanup, error) {
	h, err := l.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	c := &Cleanup{From: -1, log: l, stale: midnight(o.Now.AddDate(0, 0, -1))}
	if err := h.maintainable("cleaning up the log of"); err != nil {
		return nil, err
	}
	keep, err := h.LogRetention()
	if err != nil {
		return nil, err
	}
	c.Before = midnight(o.Now.Add(-keep))
	if c.Why = h.keepsLog(); c.Why != "" {
		return c, nil
	}
	e, err := l.expired(ctx, h, c.Before)
	if err != nil || len(e.checkpoints) == 0 {
		c.Why = "there is no log checkpoint as old as that"
		return c, err
	}
	if err := c.hold(ctx, h, e, o.Needs); err != nil {
		return nil, err
	}
	return c, c.choose(ctx, e)
}

// expired lists what there is up to the newest commit that was made before a time, or at it.
func (l *Log) expired(ctx context.Context, h *Head, before time.Time) (*listing, error) {
	e := &listing{table: l.store.URL()}
	t, err := l.newTimes(h)
	if err != nil {
		return nil, err
	}
	young := errors.New("the commits from here on are younger")
	err = l.store.List(ctx, logDir, "", func(info storage.Info) error {
		if f, ok := parseKey(info.Key); ok && f.commit && t.take(f.version, info.Modified) > before.UnixMilli() {
			return young
		}
		e.take(info)
		return nil
	})
	if err != nil && !errors.Is(err, young) {
		return nil, err
	}
	n, err := t.upTo(ctx, before)
	if err != nil {
		return nil, err
	}
	newest := int64(-1)
	if n > 0 {
		newest = t.first + int64(n) - 1
	}
	e.end(newest)
	return e, e.endAtHint(ctx, l)
}

// end leaves out what is behind a version.
func (e *listing) end(version int64) {
	e.commits = slices.DeleteFunc(e.commits, func(v int64) bool { return v > version })
	e.checkpoints = slices.DeleteFunc(e.checkpoints, func(c checkpoint) bool { return c.version > version })
}

// endAtHint leaves out what is behind the log checkpoint that _last_checkpoint names, if it is there: others refuse a table where it
// is not ("Last Checkpoint File").
func (e *listing) endAtHint(ctx context.Context, l *Log) error {
	named, err := l.hint(ctx)
	if err == nil && named != (lastCheckpoint{}) && slices.ContainsFunc(e.checkpoints, func(c checkpoint) bool { return c.version == named.Version }) {
		e.end(named.Version)
	}
	return err
}

// hold leaves out what is behind the oldest commit that an application needs.
func (c *Cleanup) hold(ctx context.Context, h *Head, e *listing, needs func(appID, userMetadata string) bool) error {
	if needs == nil {
		return nil
	}
	to := e.checkpoints[len(e.checkpoints)-1].version // whose own commit stays
	idle := map[string]App{}                          // those whose newest commit may be among what is deleted
	holds := func(id string, app App) {
		if needs(id, app.UserMetadata) {
			c.Holders = append(c.Holders, Holder{id, app.Batch, app.Version, time.UnixMilli(app.LastUpdated).UTC()})
		}
	}
	for id, app := range h.Apps {
		switch {
		case app.Version >= 0 && app.Version < to:
			holds(id, app)
		case app.Version == Unlocated && app.LastUpdated <= c.Before.UnixMilli(): // else its commit is as young
			idle[id] = app
		}
	}
	if err := c.log.eachNewest(ctx, e, to, idle, holds); err != nil {
		return err
	}
	slices.SortFunc(c.Holders, func(a, b Holder) int { return int(a.Version - b.Version) })
	if len(c.Holders) > 0 {
		e.end(c.Holders[0].Version)
	}
	return nil
}

// eachNewest calls fn for those of the applications whose newest txn action came with a commit before a version that is still there.
func (l *Log) eachNewest(ctx context.Context, e *listing, before int64, of map[string]App, fn func(id string, app App)) error {
	if len(of) == 0 {
		return nil
	}
	from := before
	for from > 0 && e.missing(from-1, from-1) < 0 {
		from--
	}
	return l.fetch(ctx, from, before-1, summary, func(p *parser) error {
		for _, t := range p.commit.Txns {
			if app, is := of[t.AppID]; is && t.Version == app.Batch {
				fn(t.AppID, p.commit.app(t))
			}
		}
		return nil
	})
}

// choose takes the newest log checkpoint that can be read.
func (c *Cleanup) choose(ctx context.Context, e *listing) error {
	for _, p := range slices.Backward(e.checkpoints) {
		r := checkpointReader{log: c.log, state: c.log.newState(), files: true}
		err := r.check(ctx, &p)
		var damaged *damagedError
		switch {
		case errors.As(err, &damaged):
			c.Damaged = append(c.Damaged, damaged.Key)
		case err != nil:
			return fmt.Errorf("read the log checkpoint of version %d: %w", p.version, err)
		default:
			c.From = p.version
			return nil
		}
	}
	c.Why = "no log checkpoint as old as that can be read"
	if len(e.checkpoints) == 0 {
		c.Why = "no log checkpoint comes before the commits that are needed"
	}
	return nil
}
