package commitlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluicedata/sluice/storage"
)

// maxPuts bounds how often a transaction is put; maxSilent how often in a row without an answer.
const (
	maxPuts   = 10_000
	maxSilent = 8
)

// Commit puts the transaction into the log, at the first version that is free, after whatever others have committed since
// its ReadVersion as far as it can follow that. Errors:
//
//   - *UnknownError: it may or may not be in the log, now or later.
//   - *FencedError: the batch, or one that it covers, is in the log by another transaction.
//   - *ConflictError, *UnsupportedError, *CorruptError, that of Validate, ErrNoTable (wrapped), the storage's, or
//     ctx.Err(): it is not in the log, and never will be.
func (l *Log) Commit(ctx context.Context, tx Transaction) (Result, error) {
	a, err := tx.prepare(l.now())
	if err != nil {
		return Result{}, err
	}
	if err := l.acquire(ctx); err != nil {
		return Result{}, a.unsettled(err)
	}
	defer l.release()

	h, err := l.start(ctx, a)
	if err != nil {
		return Result{}, err
	}
	for a.own < 0 {
		if h, err = l.try(ctx, a, h); err != nil {
			return Result{Tries: a.puts}, err
		}
	}
	return Result{Version: a.own, Recognised: !a.stored, Tries: a.puts}, nil
}

// start finds the head to put the transaction after. In the steady state that is the one in memory, and costs nothing.
func (l *Log) start(ctx context.Context, a *attempt) (*Head, error) {
	h := l.Head()
	if h == nil || h.Version < a.tx.ReadVersion || l.now().Sub(l.lookedAt) > trustHead {
		var err error
		h, err = l.refresh(ctx)
		if errors.Is(err, ErrNoTable) && a.tx.ReadVersion == NoTable {
			return l.newHead(), nil
		}
		if err != nil {
			return nil, a.unsettled(err)
		}
	}
	return h, l.catchUp(ctx, a, h)
}

// catchUp checks the versions between the transaction's own view and h. A blind transaction that was never put needs
// nothing that h does not know.
func (l *Log) catchUp(ctx context.Context, a *attempt, h *Head) error {
	if h.Version < a.checked {
		return a.unsettled(&ConflictError{
			Version: h.Version,
			Reason:  fmt.Sprintf("the table was at version %d before, so it has been rolled back or replaced", a.checked),
		})
	}
	a.read(h)
	if a.resumed || !a.tx.Blind {
		err := l.fetch(ctx, a.checked+1, h.Version, full, func(p *parser) error { return a.see(p.commit) })
		var conflict *ConflictError
		if errors.As(err, &conflict) {
			return err // the tries before would have met it too, so none of them put anything
		}
		if err != nil {
			return a.unsettled(err)
		}
	}
	if a.resumed && a.own < 0 {
		a.pending, a.putAt = true, h.Version+1 // what is not in the log yet can only get there
	}
	return l.judge(ctx, a, h)
}

// judge decides whether the transaction may be put right after h, unless it has turned out to be in the log.
func (l *Log) judge(ctx context.Context, a *attempt, h *Head) error {
	if a.own >= 0 {
		return nil
	}
	if err := l.fence(ctx, a, h); err != nil || a.own >= 0 {
		return err
	}
	return a.judge(h)
}

// fence refuses a batch that is in the log already, or of which a batch that it covers is.
func (l *Log) fence(ctx context.Context, a *attempt, h *Head) error {
	for _, t := range a.commit.Txns {
		app, known := h.Apps[t.AppID]
		first := t.Version
		if t.AppID == a.tx.AppID {
			first -= a.tx.Covers
		}
		switch {
		case !known:
		case app.TxnID == a.commit.Info.TxnID:
			a.own = app.Version
			return nil
		case app.Batch >= first:
			return l.fenced(ctx, t, app, h)
		}
	}
	return nil
}

// fenced is the error of a batch that an application's newest one stands against.
func (l *Log) fenced(ctx context.Context, t Txn, app App, h *Head) error {
	if app.Version < 0 {
		return &FencedError{AppID: t.AppID, Batch: t.Version, Version: h.Version}
	}
	winner, err := l.read(ctx, app.Version, full)
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return err
	}
	return &FencedError{AppID: t.AppID, Batch: t.Version, Version: app.Version, Winner: winner.commit}
}

// try puts the transaction once, right after h, and finds out what came of it. It returns the head to put it after next,
// or the one that holds it.
func (l *Log) try(ctx context.Context, a *attempt, h *Head) (*Head, error) {
	if err := a.mayPut(ctx); err != nil {
		return nil, err
	}
	body, next, err := l.render(a, h)
	if err != nil {
		return nil, a.unsettled(err)
	}
	a.puts++
	a.putAt = next.Version
	outcome, err := l.store.PutIfAbsent(ctx, commitKey(next.Version), body)
	if outcome == storage.Stored {
		next.wrote(l.fileOf(body))
		l.moveTo(next)
		l.lookedAt = l.now()
		a.own, a.stored, a.pending = next.Version, true, false
		return next, nil
	}
	a.pending, a.putErr = true, err
	return l.settle(ctx, a, h, outcome)
}

// mayPut bounds the tries.
func (a *attempt) mayPut(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return a.unsettled(ctx.Err())
	case a.pending && storage.Stops(ctx):
		return a.unsettled(errors.New("it is not asked for again, since the run is being stopped"))
	case a.silent >= maxSilent:
		return a.unsettled(errors.New("the storage does not answer"))
	case a.puts >= maxPuts:
		return a.unsettled(fmt.Errorf("others were first %d times in a row; have fewer processes write to one table", a.puts))
	}
	return nil
}

// unsettled turns an error into an UnknownError while the outcome of a put is not known.
func (a *attempt) unsettled(err error) error {
	if !a.pending {
		return err
	}
	if a.putErr != nil {
		err = fmt.Errorf("%w; then: %w", a.putErr, err)
	}
	return &UnknownError{Version: a.putAt, TxnID: a.commit.Info.TxnID, Err: err}
}

// render writes the commit that comes right after h, and the head that it makes. Its timestamp is not before that of h,
// whose writer may have another clock.
func (l *Log) render(a *attempt, h *Head) ([]byte, *Head, error) {
	c := a.commit
	c.Version = h.Version + 1
	now := l.now().UnixMilli()
	c.Info = a.commit.Info.clone()
	c.Info.Timestamp = max(cmp.Or(c.Info.Timestamp, now), h.LastTimestamp)
	c.Adds = slices.Clone(c.Adds)
	for i := range c.Adds {
		c.Adds[i].ModificationTime = cmp.Or(c.Adds[i].ModificationTime, c.Info.Timestamp)
	}
	c.Info.InCommitTimestamp = 0
	next, err := h.next(&c)
	if err != nil {
		return nil, nil, err
	}
	if err := next.Writable(); err != nil {
		return nil, nil, err
	}
	if next.inCommitTimestamps() {
		c.Info.InCommitTimestamp = timestamp(h, now)
		next.LastICT = c.Info.InCommitTimestamp
	}
	if err := a.judgeResult(next); err != nil {
		return nil, nil, err
	}
	body, err := c.Render()
	return body, next, err
}

// settle reads back after a put that was not stored, or may not have been: first the version that was put, then all that
// follow.
func (l *Log) settle(ctx context.Context, a *attempt, h *Head, outcome storage.Outcome) (*Head, error) {
	before := h.Version
	h, err := l.follow(ctx, h, a.see)
	var corrupt *CorruptError
	switch {
	case errors.As(err, &corrupt):
		return nil, err // the version is taken, and not by us
	case err != nil:
		return nil, a.unsettled(err)
	case h.Version > before:
		a.silent = 0
		return h, l.judge(ctx, a, h)
	case outcome == storage.Exists:
		return l.startOver(ctx, a)
	}
	a.silent++
	return h, nil
}

// startOver loads the log anew after a commit that was there is gone: the log has been cleaned up or replaced.
func (l *Log) startOver(ctx context.Context, a *attempt) (*Head, error) {
	a.silent++
	a.resumed = true
	h, err := l.load(ctx)
	if err != nil {
		return nil, a.unsettled(err)
	}
	return h, l.catchUp(ctx, a, h)
}
