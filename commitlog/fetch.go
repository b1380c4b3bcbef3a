package commitlog

import (
	"context"
	"sync"
)

const (
	// fetchers is how many commits are read and parsed at a time, at most, and firstFetchers as long as it is not known how long they are.
	fetchers      = 16
	firstFetchers = 4
	// fetchedBytes is about how long the commits are together that are read and parsed ahead.
	fetchedBytes = 4 << 20
)

// fetch reads the commits [from, to] and hands them to apply in ascending order, as what their parsers hold until it
// returns. An error of apply ends it and is returned as it is.
func (l *Log) fetch(ctx context.Context, from, to int64, d detail, apply func(*parser) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	var window [fetchers]struct { // by version modulo fetchers
		parser *parser
		done   chan error
	}
	var idle []*parser
	ahead, next := int64(firstFetchers), from
	for v := from; v <= to; v++ {
		for ; next <= min(to, v+ahead-1); next++ {
			slot, version := &window[next%fetchers], next
			slot.parser, slot.done = &parser{}, make(chan error, 1)
			if n := len(idle); n > 0 {
				slot.parser, idle = idle[n-1], idle[:n-1]
			}
			running.Go(func() { slot.done <- l.readWith(ctx, slot.parser, version, d) })
		}
		slot := &window[v%fetchers]
		if err := <-slot.done; err != nil {
			return err
		}
		if err := apply(slot.parser); err != nil {
			return err
		}
		ahead = min(fetchers, max(2, fetchedBytes/int64(1+len(slot.parser.b))))
		if int64(len(idle)) < ahead {
			idle = append(idle, slot.parser)
		}
		slot.parser = nil
	}
	return nil
}
