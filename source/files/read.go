package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/offsetlog"
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

// Read reads the files in the order given. A file must be what its range says before and after it is read: otherwise
// the error is a ChangedError, and what was emitted of it must not be used. Nothing is ever lost without an error.
func (s *Source) Read(ctx context.Context, ranges []offsetlog.Range, emit func(*source.Block) error) ([]offsetlog.Range, error) {
	for _, r := range ranges {
		planned, err := versionIn(r)
		if err != nil {
			return nil, err
		}
		if err := s.reader.read(ctx, r.Partition, planned, emit); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// reader reads one file after the other. Not safe for concurrent use.
type reader struct {
	store    storage.Store
	names    naming
	framer   format.Framer
	wayOut   string // of a file that cannot be decoded, after it was mended
	decoders decoders
	rates    rates
}

func (r *reader) read(ctx context.Context, partition string, planned version, emit func(*source.Block) error) error {
	key, err := r.names.key(partition)
	if err != nil {
		return err
	}
	if err := r.verify(ctx, key, partition, planned); err != nil {
		return err
	}
	file := &source.File{Path: partition, Modified: planned.time()}
	var records int64
	var emitErr error
	err = r.frame(ctx, key, partition, planned, func(b *source.Block) error {
		records += int64(len(b.Values))
		b.Partition, b.File = partition, file
		emitErr = emit(b)
		return emitErr
	})
	if emitErr != nil {
		return emitErr
	}
	// A file that changes under the reader explains every other error, too.
	if changed := r.verify(ctx, key, partition, planned); changed != nil {
		return changed
	}
	if err != nil {
		return err
	}
	r.rates.learn(key, planned.size, records)
	return nil
}

// verify checks that the file is as planned.
func (r *reader) verify(ctx context.Context, key, partition string, planned version) error {
	info, err := r.store.Stat(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return gone(partition, planned)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", partition, err)
	}
	if found := versionOf(info); found.identity() != planned.identity() {
		return changed(partition, planned, found.String())
	}
	return nil
}

func gone(partition string, planned version) error {
	return &ChangedError{partition, fmt.Sprintf("the file was planned with %v, and is gone", planned)}
}

func changed(partition string, planned version, found string) error {
	return &ChangedError{partition, fmt.Sprintf("the file was planned with %v, and has %s", planned, found)}
}

// frame cuts the file into records.
func (r *reader) frame(ctx context.Context, key, partition string, planned version, emit func(*source.Block) error) (err error) {
	object, err := r.store.Open(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return gone(partition, planned)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", partition, err)
	}
	defer func() {
		if closeErr := object.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("read %s: %w", partition, closeErr)
		}
	}()
	if object.Size() != planned.size {
		return changed(partition, planned, fmt.Sprintf("%d bytes", object.Size()))
	}
	stored := &meter{ctx: ctx, r: io.NewSectionReader(object, 0, planned.size)}
	text := &meter{ctx: ctx}
	if text.r, text.err = r.decoders.open(encodingOf(key), stored); text.err == nil {
		err = r.framer.Frame(text, emit)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("read %s: %w", partition, ctx.Err())
	case stored.err != nil:
		return fmt.Errorf("read %s: at byte %d of %d: %w", partition, stored.n, planned.size, stored.err)
	case text.err != nil:
		return fmt.Errorf("read %s: decode %v at byte %d of %d, after %d decoded bytes: %w; the file is cut short or damaged: "+
			"move it away, put a whole one in its place, and %s",
			partition, encodingOf(key), stored.n, planned.size, text.n, text.err, r.wayOut)
	case err != nil:
		return fmt.Errorf("read %s: at byte %d of %d: %w", partition, stored.n, planned.size, err)
	case stored.n != planned.size:
		return changed(partition, planned, fmt.Sprintf("only %d bytes that could be read", stored.n))
	default:
		return nil
	}
}

// meter counts what is read, remembers what went wrong, and stops when its context ends.
type meter struct {
	ctx context.Context
	r   io.Reader
	n   int64
	err error // the first one, but for io.EOF
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		m.err = err
		return 0, err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	if err != nil && err != io.EOF && m.err == nil {
		m.err = err
	}
	return n, err
}
