package commitlog

import (
	"context"
	"sync"
)

// fetchers is how many commits are read and parsed at a time.
const fetchers = 16

// fetched is one commit on its way from a fetcher to its place in the order.
type fetched struct {
	commit *Commit
	file   commitFile
	err    error
}

// fetch reads the commits [from, to] and hands them to apply in ascending order. Up to fetchers of them are read ahead.
// An error of apply ends it and is returned as it is.
func (l *Log) fetch(ctx context.Context, from, to int64, d detail, apply func(*Commit, commitFile) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	window := make([]chan fetched, fetchers) // by version modulo fetchers
	start := func(version int64) {
		if version > to {
			return
		}
		slot := make(chan fetched, 1)
		window[version%fetchers] = slot
		running.Go(func() {
			c, f, err := l.read(ctx, version, d)
			slot <- fetched{c, f, err}
		})
	}
	for v := from; v < from+fetchers; v++ {
		start(v)
	}
	for v := from; v <= to; v++ {
		f := <-window[v%fetchers]
		start(v + fetchers)
		if f.err != nil {
			return f.err
		}
		if err := apply(f.commit, f.file); err != nil {
			return err
		}
	}
	return nil
}
