package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
)

// openPageBytes is the size of a page before compression, at most, while many files are open.
const openPageBytes = 64 << 10

// writer turns records into data files, at least one for each partition that has rows.
//
// Without partitions rows go straight into a file. With them, records are retained for a while, with the rows of each
// partition; then each partition's rows are written in turn. The first partitions keep their files open over the whole batch;
// the others' are finished each time, so that the more is retained, the fewer and larger files they get.
type writer struct {
	table *Table
	*kept
	partitioner *partitioner
	target      int64 // bytes of a file
	keepOpen    int

	order    []*partitionRows // in order of first row
	byKey    map[string]*partitionRows
	blocks   []block
	retained int64 // bytes of blocks

	open  []*partitionRows // with a part
	done  []finished
	rows  int64
	taken int64 // bytes of all rows
	held  int64 // retained and buffered bytes, as counted
}

// block is a record that is retained until its rows are written.
type block struct {
	record   arrow.Record
	columns  []*bound
	rowBytes int64 // of a row on average
}

// partitionRows are a partition's rows that are not written yet, and its open file.
type partitionRows struct {
	values  map[string]*string // by partition column, as the log has them
	folder  string
	pending []blockRows
	part    *part
	keep    bool // its file stays open
}

// blockRows are rows of one block.
type blockRows struct {
	block int
	rows  []int32
}

func newWriter(t *Table, s form) (*writer, error) {
	w := &writer{table: t, byKey: make(map[string]*partitionRows)}
	var err error
	if w.partitioner, err = newPartitioner(s.schema, s.partitions); err != nil {
		return nil, err
	}
	if w.target, err = targetSizeOf(s.properties); err != nil {
		return nil, err
	}
	if w.kept = t.take(s); w.kept == nil {
		w.kept = &kept{form: s, workspace: &workspace{}}
		if w.layout, err = t.layout(s); err != nil {
			return nil, err
		}
	}
	w.keepOpen = int(min(int64(t.options.OpenFiles), max(1, t.options.Memory.Room()/4/int64(openPageBytes*len(w.layout.leaves)))))
	return w, nil
}

// layout is that of the table's files.
func (t *Table) layout(s form) (*layout, error) {
	stored := storedColumns(s.schema, s.partitions)
	if len(stored.Fields) == 0 {
		return nil, errors.New("all columns of the table are partition columns or void, which leaves none for its files")
	}
	if err := errors.Join(checkStorable("", stored)...); err != nil {
		return nil, err
	}
	l, err := newLayout(stored, s.properties, t.engine(), t.zstd)
	if err != nil {
		return nil, err
	}
	if err := checkBloom(l.columns, s.properties); err != nil {
		return nil, err
	}
	l.chosen = l.choice.With(s.clustering).Of(stored)
	l.parallelism = t.options.Parallelism
	return l, nil
}

func (w *writer) partitioned() bool { return len(w.partitioner.columns) > 0 }

// shares divides the memory, in bytes, between retained records and the row groups of open files: while all files stay open
// there is no use in waiting, and row groups had better be large.
func (w *writer) shares() (retain, buffer int64) {
	memory := w.held + w.table.options.Memory.Room()
	switch {
	case !w.partitioned():
		return 0, memory
	case len(w.order) <= w.keepOpen:
		return memory / 8, memory - memory/8
	default:
		return memory - memory/4, memory / 4
	}
}

func (w *writer) write(ctx context.Context, record arrow.Record) error {
	if record.NumRows() == 0 {
		return nil
	}
	columns, err := bind(w.layout.columns, record)
	if err != nil {
		return err
	}
	if err := w.split(record, columns); err != nil {
		return err
	}
	w.rows += record.NumRows()
	if err := w.relieve(); err != nil {
		return err
	}
	w.count()
	if retain, _ := w.shares(); w.retained < retain {
		return nil
	}
	return w.flush(ctx)
}

// split retains the record and gives its rows to their partitions.
func (w *writer) split(record arrow.Record, columns []*bound) error {
	record.Retain()
	bytes := recordBytes(record)
	w.taken += bytes
	w.blocks = append(w.blocks, block{record, columns, bytes / record.NumRows()})
	w.retained += bytes + 4*record.NumRows()
	at := len(w.blocks) - 1
	if !w.partitioned() {
		w.whole(at, int(record.NumRows()))
		return nil
	}
	return w.partitioner.keys(record, func(row int, key []byte, values func() []*string) error {
		p := w.byKey[string(key)]
		if p == nil {
			p = w.partition(values(), len(w.order) < w.keepOpen)
			w.byKey[string(key)] = p
			w.order = append(w.order, p)
		}
		if n := len(p.pending); n == 0 || p.pending[n-1].block != at {
			p.pending = append(p.pending, blockRows{block: at})
		}
		last := &p.pending[len(p.pending)-1]
		last.rows = append(last.rows, int32(row))
		return nil
	})
}

// partition is the one with these values of the partition columns.
func (w *writer) partition(values []*string, keep bool) *partitionRows {
	p := &partitionRows{values: make(map[string]*string, len(values)), folder: w.partitioner.folder(values), keep: keep}
	for i := range w.partitioner.fields {
		p.values[w.partitioner.fields[i].StoredName()] = values[i]
	}
	return p
}

// whole gives all rows of a block to the only partition there is.
func (w *writer) whole(at, rows int) {
	if len(w.order) == 0 {
		w.order = append(w.order, w.partition(nil, true))
	}
	w.order[0].pending = append(w.order[0].pending, blockRows{block: at, rows: allRows(rows)})
}

// allRows are the indexes of so many rows.
func allRows(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// flush writes all retained rows, partition by partition.
func (w *writer) flush(ctx context.Context) error {
	defer w.release()
	for _, p := range w.order {
		if len(p.pending) == 0 {
			continue
		}
		if err := w.writePending(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// release lets the retained records go.
func (w *writer) release() {
	for i := range w.blocks {
		w.blocks[i].record.Release()
		w.blocks[i] = block{}
	}
	w.blocks, w.retained = w.blocks[:0], 0
	w.count()
}

// lookRows is how many rows go into a file before its size is looked at again.
const lookRows = 16 << 10

func (w *writer) writePending(ctx context.Context, p *partitionRows) error {
	for _, pending := range p.pending {
		for rows := range slices.Chunk(pending.rows, lookRows) {
			if err := w.writeRows(ctx, p, w.blocks[pending.block], rows); err != nil {
				return err
			}
		}
	}
	clear(p.pending)
	p.pending = p.pending[:0]
	if p.part != nil && !p.keep {
		p.pending = nil
		return w.finishPart(ctx, p)
	}
	return nil
}

func (w *writer) writeRows(ctx context.Context, p *partitionRows, from block, rows []int32) error {
	return w.fill(ctx, p, func(e *encoder) error { return e.write(from.columns, rows, from.rowBytes) })
}

// fill has something written into the partition's file, which it begins if there is none, and ends when it is large enough.
func (w *writer) fill(ctx context.Context, p *partitionRows, write func(*encoder) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.part == nil {
		if err := w.beginPart(ctx, p); err != nil {
			return err
		}
	}
	if err := write(p.part.enc); err != nil {
		return err
	}
	if p.part.enc.size() >= w.target {
		return w.finishPart(ctx, p)
	}
	if err := w.relieve(); err != nil {
		return err
	}
	w.count()
	return nil
}

func (w *writer) beginPart(ctx context.Context, p *partitionRows) error {
	enc := w.encoder()
	key := partKey(p.folder, len(w.done)+len(w.open), w.layout.codec.infix)
	part, err := beginPart(ctx, w.table.store, key, enc)
	if err != nil {
		return err
	}
	p.part = part
	w.open = append(w.open, p)
	return nil
}

func (w *writer) encoder() *encoder {
	if n := len(w.spare); n > 0 {
		enc := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return enc
	}
	if w.partitioned() {
		return newEncoder(w.layout, min(openPageBytes, w.layout.pageBytes), w.workspace)
	}
	return newEncoder(w.layout, w.layout.pageBytes, w.workspace)
}

func (w *writer) finishPart(ctx context.Context, p *partitionRows) error {
	f, err := p.part.finish(ctx, p.values)
	if err != nil {
		return err
	}
	w.done = append(w.done, f)
	w.spare = append(w.spare, p.part.enc)
	p.part = nil
	w.open = slices.DeleteFunc(w.open, func(o *partitionRows) bool { return o == p })
	w.count()
	return nil
}

// relieve ends the largest row groups while the open files buffer more than their share.
func (w *writer) relieve() error {
	_, share := w.shares()
	for w.buffered() > share {
		var largest *encoder
		for _, p := range w.open {
			if e := p.part.enc; e.groupRows > 0 && (largest == nil || e.held > largest.held) {
				largest = e
			}
		}
		if largest == nil { // what is left is ready for what comes
			return nil
		}
		if err := largest.endGroup(); err != nil {
			return err
		}
	}
	return nil
}

// buffered is an upper bound, in bytes, of the row groups that open files hold.
func (w *writer) buffered() int64 {
	var n int64
	for _, p := range w.open {
		n += p.part.enc.held
	}
	return n
}

// count tells the account what is held.
func (w *writer) count() {
	held := w.retained + w.buffered()
	w.table.options.Memory.Add(held - w.held)
	w.held = held
}

// finish writes what is retained and completes all files.
func (w *writer) finish(ctx context.Context) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
	for _, p := range slices.Clone(w.open) {
		if err := w.finishPart(ctx, p); err != nil {
			return err
		}
	}
	w.keep()
	return nil
}

func (w *writer) settle(ctx context.Context) error {
	var err error
	for _, f := range w.done {
		err = errors.Join(err, f.staged.Settle(ctx))
	}
	return err
}

// abort removes all files, finished or not.
func (w *writer) abort(ctx context.Context) error {
	w.release()
	var err error
	for _, p := range w.open {
		err = errors.Join(err, p.part.staged.Abort(ctx))
	}
	for _, f := range w.done {
		err = errors.Join(err, f.staged.Abort(ctx))
	}
	w.open, w.done = nil, nil
	w.count()
	return err
}

// adds are the add actions of the finished files.
func (w *writer) adds() []commitlog.Add {
	var adds []commitlog.Add
	for _, f := range w.done {
		adds = append(adds, f.add)
	}
	return adds
}

func (w *writer) bytes() int64 {
	var n int64
	for _, f := range w.done {
		n += f.add.Size
	}
	return n
}

// checkPartitions refuses a table that has become partitioned in another way than the files are.
func (w *writer) checkPartitions(columns []string, version int64) error {
	if slices.Equal(columns, w.partitioner.columns) {
		return nil
	}
	return fmt.Errorf("table version %d is partitioned by %q, and the files of this batch by %q; run the batch again", version, columns, w.partitioner.columns)
}

// recordBytes is what a record's buffers take. Buffers that columns share count for each, and texts in a dictionary as often
// as they are referred to on average.
func recordBytes(record arrow.Record) int64 {
	var n int64
	for _, c := range record.Columns() {
		n += dataBytes(c.Data())
	}
	return n
}

func dataBytes(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += dataBytes(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY && d.Len() > 0 {
		texts := d.Dictionary()
		n += int64(d.Len()) * dataBytes(texts) / int64(max(texts.Len(), 1))
	}
	return n
}
