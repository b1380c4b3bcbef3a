package commitlog

import (
	"context"
	"maps"
)

// What App.Version says of a commit that is not known.
const (
	// Unlocated: only a log checkpoint tells of the application. Locate looks for the commit.
	Unlocated int64 = -1
	// CleanedUp: the commit is not in the log any more.
	CleanedUp int64 = -2
)

// Locate finds the commit that an application's newest txn action came with when only a log checkpoint tells of it: by
// looking through the commits before the checkpoint, newest first, as far as they are still there. The head then knows of
// it, or that it is gone. An application that is located, or unknown, costs nothing.
func (l *Log) Locate(ctx context.Context, appID string) (*Head, error) {
	if err := l.acquire(ctx); err != nil {
		return nil, err
	}
	defer l.release()
	h := l.Head()
	if h == nil || h.Apps[appID].Version != Unlocated {
		return h, nil
	}
	app, err := l.search(ctx, h, appID)
	if err != nil {
		return nil, err
	}
	n := *h
	n.Apps = maps.Clone(h.Apps)
	n.Apps[appID] = app
	l.moveTo(&n)
	return &n, nil
}

func (l *Log) search(ctx context.Context, h *Head, appID string) (App, error) {
	app := h.Apps[appID]
	app.Version = CleanedUp
	e, err := l.list(ctx, 0)
	if err != nil {
		return app, err
	}
	oldest := h.checkpoint + 1 // of the commits that lead up to the checkpoint
	for oldest > 0 && e.missing(oldest-1, oldest-1) < 0 {
		oldest--
	}
	for to := h.checkpoint; to >= oldest && app.Version < 0; to -= fetchers {
		err := l.fetch(ctx, max(to-fetchers+1, oldest), to, summary, func(p *parser) error {
			if t, has := p.commit.Txn(appID); has {
				app = p.commit.app(t)
			}
			return nil
		})
		if err != nil {
			return app, err
		}
	}
	if known := h.Apps[appID].Batch; app.Batch != known {
		return app, l.corrupt(h.checkpoint, "its log checkpoint has version %d of the txn of %q, the commits up to it have %d", known, appID, app.Batch)
	}
	return app, nil
}
