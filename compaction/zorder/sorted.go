package zorder

import (
	"context"
	"fmt"
	"slices"
)

const (
	batchRows  = 8192    // of rows that come out together
	batchBytes = 4 << 20 // or fewer, when they are this long
)

// sorted hands out rows in order.
type sorted struct {
	*sorter
	fn   func(rows *column) error
	told int64 // rows that it has been handed

	out     *column
	block   []byte
	entries [2][]entry
}

// each hands all rows to fn in order, some at a time, which are valid until it returns.
func (s *sorter) each(ctx context.Context, fn func(rows *column) error) error {
	o := &sorted{sorter: s, fn: fn, out: newColumn(s.shape)}
	r := s.filling
	var err error
	if s.scratch == nil {
		err = o.inMemory(ctx, r)
	} else {
		s.filling = &run{}
		err = o.buckets(ctx, r)
	}
	if err == nil && o.told != s.rows {
		err = fmt.Errorf("%d rows came out of the sorting, and %d went in", o.told, s.rows)
	}
	return err
}

// inMemory hands out the rows of the only run, bucket by bucket.
func (o *sorted) inMemory(ctx context.Context, r *run) error {
	if r.rows == 0 {
		return nil
	}
	of := newSources(r.columns)
	picks, starts := r.place(o.limits)
	for i := range o.spilled {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := picks[starts[i]:starts[i+1]]
		o.sort(r.columns, some)
		if err := o.handOut(of, some, r.bytes/int64(r.rows)); err != nil {
			return err
		}
	}
	return nil
}

// buckets hands out one bucket after the other, when the last run is with them in the scratch file.
func (o *sorted) buckets(ctx context.Context, last *run) error {
	if err := o.spill(last); err != nil {
		return err
	}
	for i := range o.spilled {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.bucket(ctx, &o.spilled[i]); err != nil {
			return err
		}
	}
	return nil
}

// bucket hands out the rows of a bucket. Those of one key are in order, however many there are.
func (o *sorted) bucket(ctx context.Context, b *spilled) error {
	bytes := b.bytes + sortBytes*b.rows
	switch {
	case len(b.blocks) == 0:
		return nil
	case b.least == b.most:
		return o.blocks(b, o.together)
	case bytes > o.limit/2:
		return o.divide(ctx, b, bytes)
	}
	o.block = slices.Grow(o.block[:0], int(b.bytes))[:b.bytes]
	var columns []*column
	at := int64(0)
	for _, from := range b.blocks {
		c, err := o.read(from, o.block[at:][:from.bytes])
		if err != nil {
			return err
		}
		columns = append(columns, c)
		at += from.bytes
	}
	return o.together(columns...)
}

func (o *sorted) read(from block, into []byte) (*column, error) {
	if err := o.scratch.read(from, into); err != nil {
		return nil, err
	}
	c, _ := o.shape.columnOf(into)
	return c, nil
}

// together sorts all rows of columns, and hands them out.
func (o *sorted) together(columns ...*column) error {
	r := run{columns: columns}
	for _, c := range columns {
		r.rows += c.n
		r.bytes += c.bytes()
	}
	held := r.bytes + sortBytes*int64(r.rows)
	o.account.Add(held)
	defer o.account.Add(-held)
	picks, _ := r.place(nil)
	o.sort(columns, picks)
	return o.handOut(newSources(columns), picks, r.bytes/int64(r.rows))
}

// sort puts picks into the order of their keys.
func (o *sorted) sort(columns []*column, picks []pick) {
	for i := range o.entries {
		o.entries[i] = slices.Grow(o.entries[i][:0], len(picks))[:len(picks)]
	}
	entries := o.entries[0]
	for i, p := range picks {
		entries[i] = entry{columns[p.of].keys()[p.at], p}
	}
	for i, e := range sortEntries(entries, o.entries[1]) {
		picks[i] = e.pick
	}
}

// handOut gathers the rows that are picked, which take so many bytes on average.
func (o *sorted) handOut(of *sources, picks []pick, rowBytes int64) error {
	rows := max(1, min(batchRows, batchBytes/max(1, rowBytes)))
	for some := range slices.Chunk(picks, int(rows)) {
		o.out.reset()
		if err := o.out.gather(of, some); err != nil {
			return err
		}
		if err := o.fn(o.out); err != nil {
			return err
		}
		o.told += int64(o.out.n)
	}
	return nil
}

// blocks hands the rows of a bucket's blocks to fn, one block after the other, each in memory of its own.
func (o *sorted) blocks(b *spilled, fn func(...*column) error) error {
	for _, from := range b.blocks {
		c, err := o.read(from, make([]byte, from.bytes))
		if err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
	}
	return nil
}

// divide sorts a bucket for which there is not enough memory in buckets of its own.
func (o *sorted) divide(ctx context.Context, b *spilled, bytes int64) error {
	n := max(2, bucketsFor(8*bytes/o.limit, o.limit, o.shape.leaves()))
	parts := newSorter(o.shape, o.account, o.create, o.limit, evenly(b.least, b.most, n))
	err := parts.all(ctx, func() error {
		return o.blocks(b, func(rows ...*column) error {
			if full := parts.fill(rows[0]); full != nil {
				return parts.spill(full)
			}
			return nil
		})
	}, o.fn)
	o.told += parts.rows
	return err
}

// evenly divides keys from one to another into so many ranges of the same length, or less if there are fewer, and returns the
// least of all but the first.
func evenly(least, most uint64, ranges int) []uint64 {
	length := (most-least)/uint64(ranges) + 1
	var limits []uint64
	for at := length; at <= most-least && at >= length; at += length {
		limits = append(limits, least+at)
	}
	return limits
}
