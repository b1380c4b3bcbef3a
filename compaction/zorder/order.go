package zorder

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/table"
)

// dictionaryShare is the part of a run's memory, one in so many bytes, that dictionaries take.
const dictionaryShare = 8

// Settings are those of the sorting.
type Settings struct {
	// Memory is what rows are counted in while they are sorted; half of its room is for them.
	Memory *memory.Account
	// Scratch is the folder of scratch files; that of the system's temporary ones if empty.
	Scratch string
	// Parallelism is how many files are read at a time; at least one is.
	Parallelism int
}

// Events are told to whoever wants to show them, one at a time; each may be nil.
type Events struct {
	Read    func(*table.File) // after each file
	Written func(rows int64)  // now and then, with the number so far
}

// Order reads the rows of files, and gives them to the rewrite in the order of the curve.
func Order(ctx context.Context, r *table.Rewrite, files []table.File, by *Columns, s Settings, e Events) error {
	o := &order{rewrite: r, files: files, by: by, workers: max(1, min(s.Parallelism, len(files))), events: e}
	taken, err := o.sample(ctx)
	if err != nil {
		return err
	}
	o.curve = taken.curve()
	rows, limit := newRows(r.ArrowSchema()), max(leastRun, min(mostRun, s.Memory.Room()/2/int64(o.workers)))
	dictionaries := limit / dictionaryShare
	s.Memory.Add(dictionaries)
	defer s.Memory.Add(-dictionaries)
	rows.giveRoom(dictionaries / int64(rows.leaves()))
	limits := taken.limits(o.curve, bucketsFor(taken.seen/bucketRows, limit, rows.leaves()))
	o.sorter = newSorter(rows, s.Memory, func() (scratchFile, error) { return newScratch(s.Scratch) }, limit, limits)
	return o.sorter.all(ctx, func() error { return o.read(ctx) }, func(rows *column) error { return o.write(ctx, rows) })
}

type order struct {
	rewrite *table.Rewrite
	files   []table.File
	by      *Columns
	workers int
	events  Events
	curve   *curve
	sorter  *sorter
	told    sync.Mutex
	written int64 // rows
}

// sample takes some rows' values of the columns.
func (o *order) sample(ctx context.Context) (*sample, error) {
	s := newSample(len(o.by.paths))
	err := o.eachFile(ctx, func(ctx context.Context, f *table.File) error {
		return o.rewrite.Scan(ctx, f, o.by.tops(), func(record arrow.Record) error {
			s.add(int(record.NumRows()), o.by.in(record))
			return nil
		})
	})
	return s, err
}

// read gives all rows to the sorter.
func (o *order) read(ctx context.Context) error {
	return o.eachFile(ctx, func(ctx context.Context, f *table.File) error {
		rows := int64(0)
		err := o.rewrite.Scan(ctx, f, nil, func(record arrow.Record) error {
			rows += record.NumRows()
			return o.sorter.add(o.curve.keys(o.by.in(record), int(record.NumRows())), record)
		})
		if err != nil {
			return err
		}
		o.told.Lock()
		defer o.told.Unlock()
		if o.events.Read != nil {
			o.events.Read(f)
		}
		return o.rewrite.Replace(f, rows)
	})
}

// write gives sorted rows to the rewrite.
func (o *order) write(ctx context.Context, rows *column) error {
	record := rows.record()
	defer record.Release()
	if err := o.rewrite.Write(ctx, record); err != nil {
		return err
	}
	o.written += record.NumRows()
	if o.events.Written != nil {
		o.events.Written(o.written)
	}
	return nil
}

// eachFile calls do for each file, several at a time. The first error ends it.
func (o *order) eachFile(ctx context.Context, do func(context.Context, *table.File) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	left := make(chan *table.File, len(o.files))
	for i := range o.files {
		left <- &o.files[i]
	}
	close(left)
	var workers sync.WaitGroup
	for range o.workers {
		workers.Go(func() {
			for f := range left {
				if ctx.Err() != nil {
					return
				}
				if err := do(ctx, f); err != nil {
					stop(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
