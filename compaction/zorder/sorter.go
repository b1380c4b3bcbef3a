package zorder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sluicedata/sluice/memory"
)

const (
	leastRun  = 1 << 20 // bytes of a run, however little memory there is
	entrySize = 16      // bytes of an entry
)

// packed are some rows as bytes, each with its length, of four bytes, in front, and where each begins.
type packed struct {
	bytes   []byte
	entries []entry
}

// entry is a row in a run.
type entry struct {
	key       uint64
	block, at uint32
}

// run is rows in memory that are sorted together.
type run struct {
	blocks  [][]byte
	entries []entry
	held    int64
}

// sorter sorts rows by key. What is more than its memory goes to scratch files, as sorted runs. add is safe for concurrent
// use; each and close come after it.
type sorter struct {
	scratch func() (scratchFile, error)
	account *memory.Account
	limit   int64 // bytes of a run in memory
	fan     int   // runs that are merged at a time

	mu      sync.Mutex
	filling *run
	spilled []*spilledRun
	rows    int64
	spare   [][]byte // of blocks that have been spilled
}

// newSorter returns a sorter for so many adders at a time. Half of the account's room is for rows, while they come in; the rest is left to
// those who write.
func newSorter(account *memory.Account, scratch string, adders int) *sorter {
	room := account.Room() / 2
	return &sorter{
		scratch: func() (scratchFile, error) { return newScratch(scratch) }, account: account, filling: &run{},
		limit: max(leastRun, room/int64(adders)),
		fan:   int(min(mostRuns, max(leastRuns, room/(2*blockBytes)))),
	}
}

// add takes rows, which are the sorter's from then on. Whoever fills a run sorts and spills it, while others go on.
func (s *sorter) add(p packed) error {
	full := s.take(p)
	if full == nil {
		return nil
	}
	spilled, err := s.spill(full.sorted())
	s.account.Add(-full.held)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spilled = append(s.spilled, spilled)
	s.spare = full.blocks
	return nil
}

// buffer is one to put rows into.
func (s *sorter) buffer() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.spare) - 1
	if last < 0 {
		return nil
	}
	b := s.spare[last]
	s.spare = s.spare[:last]
	return b[:0]
}

// take puts rows to the run that is being filled, and returns that if it is full.
func (s *sorter) take(p packed) (full *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.filling
	for i := range p.entries {
		p.entries[i].block = uint32(len(r.blocks))
	}
	r.blocks = append(r.blocks, p.bytes)
	r.entries = append(r.entries, p.entries...)
	held := int64(cap(p.bytes) + entrySize*len(p.entries))
	r.held += held
	s.account.Add(held)
	s.rows += int64(len(p.entries))
	if r.held < s.limit {
		return nil
	}
	s.filling = &run{}
	return r
}

// sorted are the run's rows in the order of their keys, and as they came where keys are the same.
func (r *run) sorted() source {
	slices.SortFunc(r.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.block, b.block), cmp.Compare(a.at, b.at))
	})
	at := 0
	return func() (key uint64, row []byte, ok bool, err error) {
		if at == len(r.entries) {
			return 0, nil, false, nil
		}
		e := r.entries[at]
		at++
		row, _ = cutRow(r.blocks[e.block][e.at:])
		return e.key, row, true, nil
	}
}

// each hands all rows to fn in order. A row is valid until fn returns.
func (s *sorter) each(ctx context.Context, fn func(row []byte) error) error {
	sources := []source{s.filling.sorted()}
	if len(s.spilled) > 0 {
		if err := s.gather(ctx); err != nil {
			return err
		}
		sources = nil
		for _, r := range s.spilled {
			sources = append(sources, r.rows())
		}
	}
	for next := merged(sources); ; {
		_, row, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// gather spills what is in memory, and merges runs until all that are left can be merged at a time.
func (s *sorter) gather(ctx context.Context) error {
	last, err := s.spill(s.filling.sorted())
	if err != nil {
		return err
	}
	s.spilled = append(s.spilled, last)
	s.account.Add(-s.filling.held)
	s.filling, s.spare = &run{}, nil
	for len(s.spilled) > s.fan {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := s.spilled[:s.fan]
		var sources []source
		for _, r := range some {
			sources = append(sources, r.rows())
		}
		merged, err := s.spill(merged(sources))
		if err != nil {
			return err
		}
		for _, r := range some {
			err = errors.Join(err, r.file.Close())
		}
		s.spilled = append(s.spilled[s.fan:], merged)
		if err != nil {
			return err
		}
	}
	return nil
}

// close gives up memory and scratch files.
func (s *sorter) close() error {
	var err error
	for _, r := range s.spilled {
		err = errors.Join(err, r.file.Close())
	}
	s.account.Add(-s.filling.held)
	s.filling, s.spilled = &run{}, nil
	return err
}
