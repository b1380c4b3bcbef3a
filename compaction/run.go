package compaction

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/table"
)

// Done is what has become of a group.
type Done struct {
	Group
	Committed table.Committed
	Conflict  *commitlog.ConflictError // not nil: it lost a race, and nothing of it is in the table
}

// Events are told to whoever wants to show them; each may be nil.
type Events struct {
	// Progress comes after each file, with the number of the group in the plan and the bytes that were read so far, of all
	// groups.
	Progress func(group int, bytes int64)
	// Written comes now and then while a group's rows are written in order, with their number so far.
	Written func(group int, rows int64)
	// Done comes after each group.
	Done func(Done)
	// Enough is asked before each group but the first, and ends the run when it says so.
	Enough func() bool
}

// Run rewrites the plan's groups of a snapshot, one by one, each with a commit of its own. A group that loses a race is
// passed over. Errors are those of table.Rewrite; groups before the one that failed are in the table. A table that may not be
// written is refused before anything is read.
func Run(ctx context.Context, s *table.Snapshot, p *Plan, e Events) error {
	if len(p.Groups) == 0 {
		return nil
	}
	if err := s.Writable(ctx); err != nil {
		return err
	}
	var bytes int64
	for i, g := range p.Groups {
		if i > 0 && e.Enough != nil && e.Enough() {
			return nil
		}
		events := zorder.Events{
			Read: func(f *table.File) {
				if bytes += f.Size; e.Progress != nil {
					e.Progress(i, bytes)
				}
			},
			Written: func(rows int64) {
				if e.Written != nil {
					e.Written(i, rows)
				}
			},
		}
		done, err := p.rewrite(ctx, s, g, events)
		if err != nil {
			return fmt.Errorf("compact group %d of %d: %w", i+1, len(p.Groups), err)
		}
		if e.Done != nil {
			e.Done(done)
		}
	}
	return nil
}

func (p *Plan) rewrite(ctx context.Context, s *table.Snapshot, g Group, e zorder.Events) (Done, error) {
	r, err := s.Rewrite(&g.Files[0])
	if err != nil {
		return Done{}, err
	}
	if p.ordering != nil {
		err = p.ordering.rewrite(ctx, r, g, e)
	} else {
		err = join(ctx, r, g, e)
	}
	if err != nil {
		return Done{}, errors.Join(err, r.Abort(ctx))
	}
	done := Done{Group: g}
	done.Committed, err = r.Commit(ctx)
	if errors.As(err, &done.Conflict) {
		return done, nil
	}
	return done, err
}

// join gives a group's files to the rewrite one after the other.
func join(ctx context.Context, r *table.Rewrite, g Group, e zorder.Events) error {
	for i := range g.Files {
		if err := r.Add(ctx, &g.Files[i]); err != nil {
			return err
		}
		e.Read(&g.Files[i])
	}
	return nil
}
