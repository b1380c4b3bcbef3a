package zorder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/table"
)

const (
	batchRows  = 4096    // of a record on its way into the table
	batchBytes = 4 << 20 // or fewer, when they are this long
)

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
func Order(ctx context.Context, r *table.Rewrite, files []table.File, by *Columns, s Settings, e Events) (err error) {
	o := &order{rewrite: r, files: files, by: by, workers: max(1, min(s.Parallelism, len(files))), events: e}
	if err := o.sample(ctx); err != nil {
		return err
	}
	o.sorter = newSorter(s.Memory, s.Scratch, o.workers)
	defer func() { err = errors.Join(err, o.sorter.close()) }()
	if err := o.read(ctx); err != nil {
		return err
	}
	return o.write(ctx)
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
}

// sample finds the ranges of the columns.
func (o *order) sample(ctx context.Context) error {
	s := newSample(len(o.by.paths))
	err := o.eachFile(ctx, func(ctx context.Context, f *table.File) error {
		return o.rewrite.Scan(ctx, f, o.by.tops(), func(record arrow.Record) error {
			s.add(int(record.NumRows()), o.by.in(record))
			return nil
		})
	})
	o.curve = newCurve(s.bounds())
	return err
}

// read has all rows sorted.
func (o *order) read(ctx context.Context) error {
	return o.eachFile(ctx, func(ctx context.Context, f *table.File) error {
		rows := int64(0)
		err := o.rewrite.Scan(ctx, f, nil, func(record arrow.Record) error {
			rows += record.NumRows()
			return o.sorter.add(o.pack(record))
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

// pack makes bytes of a record's rows, with their keys.
func (o *order) pack(record arrow.Record) packed {
	fields, columns := o.by.in(record), record.Columns()
	p := packed{bytes: o.sorter.buffer(), entries: make([]entry, record.NumRows())}
	x := make([]uint32, len(fields))
	var value []byte
	for i := range p.entries {
		e := &p.entries[i]
		e.key, value = o.curve.key(fields, i, x, value)
		e.at = uint32(len(p.bytes))
		p.bytes = appendRow(append(p.bytes, 0, 0, 0, 0), columns, i)
		binary.LittleEndian.PutUint32(p.bytes[e.at:], uint32(len(p.bytes))-e.at-4)
	}
	return p
}

// write gives the sorted rows to the rewrite, in records.
func (o *order) write(ctx context.Context) error {
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, o.rewrite.ArrowSchema())
	defer builder.Release()
	rows, bytes, written := 0, 0, int64(0)
	flush := func() error {
		if rows == 0 {
			return nil
		}
		record := builder.NewRecord()
		defer record.Release()
		written += int64(rows)
		rows, bytes = 0, 0
		if err := o.rewrite.Write(ctx, record); err != nil {
			return err
		}
		if o.events.Written != nil {
			o.events.Written(written)
		}
		return nil
	}
	err := o.sorter.each(ctx, func(row []byte) error {
		rows++
		bytes += len(row)
		r := rowReader(row)
		r.row(builder.Fields())
		if rows < batchRows && bytes < batchBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil && written != o.sorter.rows {
		err = fmt.Errorf("%d rows came out of the sorting, and %d went in", written, o.sorter.rows)
	}
	return err
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
