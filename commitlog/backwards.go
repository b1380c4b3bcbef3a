package commitlog

import (
	"context"
	"fmt"
	"iter"
)

// Backwards goes through the commits from a version on down, from the newest when it is negative, as far as the log still has
// them. As many are held as are read at a time. It ends with the first error; errors are those of Commits, and ErrNoVersion
// (wrapped).
func (l *Log) Backwards(ctx context.Context, from int64) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		first, from, err := l.span(ctx, from)
		for ; err == nil && from >= first; from -= fetchers {
			var some []*Commit
			err = l.fetch(ctx, max(from-fetchers+1, first), from, full, func(p *parser) error {
				some = append(some, p.commit)
				return nil
			})
			for i := len(some) - 1; err == nil && i >= 0; i-- {
				if !yield(some[i], nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// span is the first version whose commit is there, and the last up to the given one.
func (l *Log) span(ctx context.Context, to int64) (first, last int64, err error) {
	e, err := l.list(ctx, 0)
	if err != nil {
		return 0, 0, err
	}
	if len(e.commits) == 0 {
		return 0, 0, fmt.Errorf("table %s: %w", e.table, ErrNoTable)
	}
	first, last = e.commits[0], e.commits[len(e.commits)-1]
	if hole := e.missing(first, last); hole >= 0 {
		return 0, 0, e.hole(hole, last)
	}
	switch {
	case to < 0:
		return first, last, nil
	case to > last:
		return 0, 0, e.newer(to)
	case to < first:
		return 0, 0, fmt.Errorf("table %s, version %d: %w: its commit has been cleaned up; the oldest that is left is of version %d", e.table, to, ErrNoVersion, first)
	}
	return first, to, nil
}
