package zorder

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/memory"
)

const (
	mostBuckets = 256
	bucketRows  = 4 << 10 // of a bucket, at least
	columnBytes = 4 << 10 // of a column of a bucket, as well
	leastRun    = 1 << 20 // bytes of a run, however little memory there is
	mostRun     = 1 << 30 // and however much there is: texts of a column have at most 2 GiB

	sortBytes = 8 + 1 + 2*16 // of a row that is sorted: a pick, the number of a bucket, two entries
)

// sorter sorts rows by key. As long as all fit into its memory they stay in the records in which they come. What does not fit goes to a scratch file: the rows of a
// run, which has been filled, are gathered by buckets, which are ranges of keys, and each of these becomes a block. Then one bucket after the other is
// read back and sorted. add is safe for concurrent use; each and close come after it.
type sorter struct {
	shape   *shape // of rows
	account *memory.Account
	create  func() (scratchFile, error)
	limit   int64    // bytes of a run
	limits  []uint64 // the least keys of all buckets but the first, ascending

	mu      sync.Mutex
	filling *run
	rows    int64
	scratch *scratch // nil as long as all is in memory
	spilled []spilled
}

// run is rows in memory.
type run struct {
	columns []*column
	bytes   int64 // that they take, and their sorting
	rows    int
}

// spilled are rows of a bucket in the scratch file.
type spilled struct {
	blocks      []block
	bytes, rows int64
	least, most uint64 // keys
}

// newSorter returns a sorter with so many bytes for a run, with such limits between buckets.
func newSorter(s *shape, account *memory.Account, create func() (scratchFile, error), limit int64, limits []uint64) *sorter {
	return &sorter{
		shape: s, account: account, create: create, limit: limit, limits: limits,
		filling: &run{}, spilled: make([]spilled, len(limits)+1),
	}
}

// bucketsFor is how many buckets there are for runs of so many bytes with so many leaves, if so many are wanted.
func bucketsFor(wanted, limit int64, leaves int) int {
	return int(max(1, min(wanted, mostBuckets, limit/int64(columnBytes*leaves))))
}

// add takes the rows of a record with their keys. Whoever fills a run spills it, while others go on.
func (s *sorter) add(keys []uint64, record arrow.Record) error {
	full, err := s.take(keys, record)
	if err != nil || full == nil {
		return err
	}
	return s.spill(full)
}

// take puts rows to the run that is being filled, and returns that if it is full.
func (s *sorter) take(keys []uint64, record arrow.Record) (full *run, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, err := s.shape.viewRows(keys, record)
	if err != nil {
		return nil, err
	}
	return s.fill(rows), nil
}

// fill is called with mu held.
func (s *sorter) fill(rows *column) (full *run) {
	r := s.filling
	bytes := rows.memory() + sortBytes*int64(rows.n)
	r.columns = append(r.columns, rows)
	r.rows += rows.n
	r.bytes += bytes
	s.rows += int64(rows.n)
	s.account.Add(bytes)
	if r.bytes < s.limit {
		return nil
	}
	s.filling = &run{}
	return r
}

// place has the picks of each bucket's rows one behind the other, and returns where those of each begin, and behind it where the last
// ones end.
func (r *run) place(limits []uint64) (picks []pick, starts []int) {
	numbers := make([]uint8, 0, r.rows)
	starts = make([]int, len(limits)+2)
	for _, c := range r.columns {
		for _, key := range c.keys() {
			number := countUpTo(limits, key)
			numbers = append(numbers, uint8(number))
			starts[number+1]++
		}
	}
	for i := range limits {
		starts[i+2] += starts[i+1]
	}
	next := slices.Clone(starts)
	picks = make([]pick, r.rows)
	for of, c := range r.columns {
		for at := range c.n {
			number := numbers[0]
			numbers = numbers[1:]
			picks[next[number]] = pick{uint32(of), uint32(at)}
			next[number]++
		}
	}
	return picks, starts
}

// spill moves a run to the scratch file.
func (s *sorter) spill(r *run) error {
	defer s.account.Add(-r.bytes)
	if r.rows == 0 {
		return nil
	}
	picks, starts := r.place(s.limits)
	of, rows := newSources(r.columns), newColumn(s.shape)
	var b []byte
	for i := range s.spilled {
		if starts[i] == starts[i+1] {
			continue
		}
		rows.reset()
		if err := rows.gather(of, picks[starts[i]:starts[i+1]]); err != nil {
			return err
		}
		b = rows.appendTo(b[:0])
		if err := s.put(&s.spilled[i], b, rows.keys()); err != nil {
			return err
		}
	}
	return nil
}

// put appends a block to the scratch file.
func (s *sorter) put(to *spilled, b []byte, keys []uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scratch == nil {
		f, err := s.create()
		if err != nil {
			return fmt.Errorf("spill rows to a scratch file: %w", err)
		}
		s.scratch = &scratch{file: f}
	}
	at, err := s.scratch.write(b)
	if err != nil {
		return err
	}
	least, most := slices.Min(keys), slices.Max(keys)
	if len(to.blocks) > 0 {
		least, most = min(least, to.least), max(most, to.most)
	}
	to.blocks = append(to.blocks, at)
	to.bytes, to.rows, to.least, to.most = to.bytes+at.bytes, to.rows+int64(len(keys)), least, most
	return nil
}

// all hands the rows that fill adds to fn in order, as each does, and closes the sorter.
func (s *sorter) all(ctx context.Context, fill func() error, fn func(*column) error) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	if err := fill(); err != nil {
		return err
	}
	return s.each(ctx, fn)
}

// close gives up memory and the scratch file.
func (s *sorter) close() error {
	s.account.Add(-s.filling.bytes)
	s.filling = &run{}
	if s.scratch == nil {
		return nil
	}
	return s.scratch.file.Close()
}

// countUpTo is how many of the numbers, which are ascending, are not above n.
func countUpTo(numbers []uint64, n uint64) int {
	at := 0
	for length := len(numbers); length > 0; {
		half := (length + 1) / 2
		_, below := bits.Sub64(n, numbers[at+half-1], 0)
		at += half & (int(below) - 1) // or nothing: a branch would often go the wrong way
		length -= half
	}
	return at
}
