package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// planAnew is the way out of a plan that can no longer be read as it stands. It is safe because a batch that is being
// read has not been committed.
const planAnew = "stop the pipeline and delete this batch's plan, the newest file in the checkpoint's offsets folder, " +
	"so that the batch is planned again without it"

// ChangedError is a planned file that is not there as it was planned, so that its rows can't be had again.
type ChangedError struct {
	Partition string // as in the plan
	Problem   string // what was planned, what is there
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("read %s: %s; %s", e.Partition, e.Problem, e.Remedy())
}

// Remedy is what to do about it.
func (e *ChangedError) Remedy() string {
	return "put the file back as it was, or, if that is impossible, " + planAnew
}

// file is a planned file.
type file struct {
	partition string
	key       string
	planned   version
}

// reader reads files. Safe for concurrent use.
type reader struct {
	store    storage.Store
	framer   format.Framer
	wayOut   string    // of a file that cannot be decoded, after it was mended
	decoders sync.Pool // of *decoders
}

// read cuts one file into records. It must be what was planned before and after it is read: otherwise the error is a
// ChangedError, and what was emitted must not be used.
func (r *reader) read(ctx context.Context, f file, room *room, emit func(*source.Block) error) error {
	if err := r.verify(ctx, f); err != nil {
		return err
	}
	var emitErr error
	err := r.frame(ctx, f, room, f.labelled(func(b *source.Block) error {
		emitErr = emit(b)
		return emitErr
	}))
	if emitErr != nil {
		return emitErr
	}
	// A file that changes under the reader explains every other error, too.
	if changed := r.verify(ctx, f); changed != nil {
		return changed
	}
	return err
}

// labelled says of which file the blocks are.
func (f file) labelled(emit func(*source.Block) error) func(*source.Block) error {
	info := &source.File{Path: f.partition, Modified: f.planned.time()}
	return func(b *source.Block) error {
		b.Partition, b.File = f.partition, info
		return emit(b)
	}
}

// verify checks that the file is as planned.
func (r *reader) verify(ctx context.Context, f file) error {
	info, err := r.store.Stat(ctx, f.key)
	if errors.Is(err, storage.ErrNotExist) {
		return f.gone()
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", f.partition, err)
	}
	if found := versionOf(info); found.identity() != f.planned.identity() {
		return f.changed(found.String())
	}
	return nil
}

func (f file) gone() error {
	return &ChangedError{f.partition, fmt.Sprintf("the file was planned with %v, and is gone", f.planned)}
}

func (f file) changed(found string) error {
	return &ChangedError{f.partition, fmt.Sprintf("the file was planned with %v, and has %s", f.planned, found)}
}

// open opens the file, which has to be as long as planned.
func (r *reader) open(ctx context.Context, f file) (storage.Object, error) {
	object, err := r.store.Open(ctx, f.key)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, f.gone()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.partition, err)
	}
	if found := object.Size(); found != f.planned.size {
		return nil, errors.Join(f.changed(fmt.Sprintf("%d bytes", found)), object.Close())
	}
	return object, nil
}

// frame opens the file and cuts it into records.
func (r *reader) frame(ctx context.Context, f file, room *room, emit func(*source.Block) error) (err error) {
	object, err := r.open(ctx, f)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := object.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("read %s: %w", f.partition, closeErr)
		}
	}()
	return r.cut(ctx, f, object, room, emit)
}

// cut cuts the open file into records.
func (r *reader) cut(ctx context.Context, f file, object storage.Object, room *room, emit func(*source.Block) error) (err error) {
	size, stored := f.planned.size, encodingOf(f.key)
	in := &meter{ctx: ctx, r: io.NewSectionReader(object, 0, size)}
	text := &meter{ctx: ctx, room: room}
	d := r.decoder()
	defer r.decoders.Put(d)
	if text.r, text.err = d.open(ctx, stored, in, room); text.err == nil {
		err = r.framer.Frame(text, emit)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("read %s: %w", f.partition, ctx.Err())
	case in.err != nil:
		return fmt.Errorf("read %s: at byte %d of %d: %w", f.partition, in.n, size, in.err)
	case text.err != nil:
		return fmt.Errorf("read %s: decode %v at byte %d of %d, after %d decoded bytes: %w; the file is cut short or damaged: "+
			"move it away, put a whole one in its place, and %s",
			f.partition, stored, in.n, size, text.n, text.err, r.wayOut)
	case err != nil:
		return fmt.Errorf("read %s: at byte %d of %d: %w", f.partition, in.n, size, err)
	case in.n != size:
		return f.changed(fmt.Sprintf("only %d bytes that could be read", in.n))
	default:
		return nil
	}
}

func (r *reader) decoder() *decoders {
	if d, _ := r.decoders.Get().(*decoders); d != nil {
		return d
	}
	return new(decoders)
}

// meter counts what is read, remembers what went wrong, and stops when its context ends.
type meter struct {
	ctx  context.Context
	r    io.Reader
	room *room // for what is read
	n    int64
	err  error // the first one, but for io.EOF
}

func (m *meter) Read(p []byte) (n int, err error) {
	if err = m.ctx.Err(); err == nil {
		err = m.room.take(m.ctx, int64(len(p)))
	}
	if err == nil {
		n, err = m.r.Read(p)
		m.n += int64(n)
		m.room.give(int64(len(p) - n))
	}
	if err != nil && err != io.EOF && m.err == nil {
		m.err = err
	}
	return n, err
}
