package files

import (
	"context"
	"sync"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

const (
	// atOnce is how many files are read at once: the one being emitted, and those after it.
	atOnce = 16
	// piecesAtOnce is the same of pieces of files. They are large, and more would only take memory.
	piecesAtOnce = 4
	// queued is how many blocks of one file may wait; the memory usually allows fewer.
	queued = 32
	// piecesQueued is the same of a piece. It is as quick to read as it is to copy, and what was read long before it is decoded has left the
	// processor's nearest caches by then.
	piecesQueued = 2
)

// Read reads files side by side, and emits them in the order given. A file must be what its range says before and after it
// is read: otherwise the error is a ChangedError, and what was emitted of it must not be used. Nothing is ever lost without
// an error; of several errors it is that of the first file.
func (s *Source) Read(ctx context.Context, ranges []offsetlog.Range, emit func(*source.Block) error) ([]offsetlog.Range, error) {
	jobs, err := s.jobs(ranges)
	if err != nil {
		return nil, err
	}
	ahead := s.memory.ReadAhead()
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	emitted, started := 0, 0 // how many of the jobs
	defer func() {
		cancel()
		running.Wait()
		ahead.Close()
		for _, j := range jobs[emitted:started] {
			j.drop()
		}
	}()
	var lines int64 // of the pieces before, of the same file
	for ; emitted < len(jobs); emitted++ {
		ahead.MoveHead(emitted)
		for ; started < len(jobs) && started < emitted+jobs[started].atOnce(); started++ {
			next := jobs[started]
			next.room, next.blocks = &room{ahead: ahead, job: started}, make(chan *source.Block, next.queued())
			running.Go(func() { next.run(ctx, s.reader) })
		}
		j := jobs[emitted]
		if j.piece == nil || j.piece.from == 0 {
			lines = 0
		}
		records, err := j.drain(lines, emit)
		if err == nil && j.piece != nil && j.piece.isLast() {
			err = s.reader.finish(ctx, j.piece.of)
		}
		if err != nil {
			return nil, err
		}
		lines += j.lines
		s.rates.learn(j.key, j.size(), records)
		jobs[emitted] = nil // there may be many
	}
	return nil, nil
}

// job is a file to read, or a piece of one. The goroutine that runs it owns lines and err until it closes blocks.
type job struct {
	file
	piece  *piece // nil: all of it
	room   *room
	blocks chan *source.Block
	lines  int64 // of a piece
	err    error
}

// atOnce is how far from the one that is emitted it may be read.
func (j *job) atOnce() int {
	if j.piece != nil {
		return piecesAtOnce
	}
	return atOnce
}

// queued is how many of its blocks may wait.
func (j *job) queued() int {
	if j.piece != nil {
		return piecesQueued
	}
	return queued
}

// size is in bytes.
func (j *job) size() int64 {
	if j.piece != nil {
		return j.piece.to - j.piece.from
	}
	return j.planned.size
}

func (s *Source) jobs(ranges []offsetlog.Range) ([]*job, error) {
	jobs := make([]*job, 0, len(ranges))
	for _, r := range ranges {
		planned, err := versionIn(r)
		if err != nil {
			return nil, err
		}
		key, err := s.names.key(r.Partition)
		if err != nil {
			return nil, err
		}
		f := file{partition: r.Partition, key: key, planned: planned}
		pieces := s.pieces(f)
		for i := range pieces {
			jobs = append(jobs, &job{file: f, piece: &pieces[i]})
		}
		if len(pieces) == 0 {
			jobs = append(jobs, &job{file: f})
		}
	}
	return jobs, nil
}

// run reads the file, or the piece.
func (j *job) run(ctx context.Context, r *reader) {
	defer close(j.blocks)
	defer j.room.end()
	queue := func(b *source.Block) error {
		b.Retain()
		select {
		case j.blocks <- b:
			j.room.handOver(b.Bytes)
			return nil
		case <-ctx.Done():
			b.Release()
			return context.Cause(ctx)
		}
	}
	if j.piece != nil {
		j.lines, j.err = r.readPiece(ctx, j.piece, j.room, queue)
	} else {
		j.err = r.read(ctx, j.file, j.room, queue)
	}
}

// drain emits what the job reads, behind so many lines of the file, until it is done.
func (j *job) drain(lines int64, emit func(*source.Block) error) (records int64, err error) {
	for b := range j.blocks {
		records += int64(len(b.Values))
		for i := range b.Positions {
			b.Positions[i] += lines
		}
		bytes := b.Bytes
		err := emit(b)
		b.Release()
		j.room.emitted(bytes)
		if err != nil {
			return 0, err
		}
	}
	return records, j.err
}

// drop releases what nobody will emit, or read. The job has ended.
func (j *job) drop() {
	for b := range j.blocks {
		b.Release()
	}
	if j.piece != nil {
		_ = j.piece.of.close() // an error that says more is on its way
	}
}

// room is what a file holds of the memory for reading ahead, in bytes; a nil one is without bounds. Not safe for concurrent
// use, but for emitted.
type room struct {
	ahead *memory.ReadAhead
	job   int
	own   int64 // not handed over
}

// take waits until there is room for so much more. The file whose turn it is waits only for what it has handed over.
func (m *room) take(ctx context.Context, bytes int64) error {
	if m == nil {
		return nil
	}
	if err := m.ahead.Extend(ctx, m.job, m.own, bytes); err != nil {
		return err
	}
	m.own += bytes
	return nil
}

// give returns what was taken and is not needed.
func (m *room) give(bytes int64) {
	if m != nil {
		m.own -= bytes
		m.ahead.Settle(m.job, -bytes)
	}
}

// handOver says that so much is in blocks now, and is given back when they are emitted.
func (m *room) handOver(bytes int64) { m.own -= bytes }

func (m *room) emitted(bytes int64) { m.ahead.Settle(m.job, -bytes) }

// end gives back what was not handed over.
func (m *room) end() { m.give(m.own) }
