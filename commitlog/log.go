package commitlog

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// trustHead is how long a head is believed without a look at its own commit. After a longer pause Commit and Refresh look at that first:
// other engines may have moved the table on and cleaned up the commits in between, and a put at a version that was deleted
// would succeed and be lost. No engine deletes commits as young as this.
const trustHead = 5 * time.Minute

// Log is a table's transaction log. Safe for concurrent use; Load, Refresh and Commit wait for one another.
type Log struct {
	store storage.Store
	now   func() time.Time
	seed  maphash.Seed

	turn     chan struct{} // holds a token while nobody moves the head
	head     atomic.Pointer[Head]
	lookedAt time.Time // when the head's own commit was last seen in the log; guarded by turn
}

// New returns the log of the table whose folder store is rooted at. It does no I/O.
func New(store storage.Store) *Log {
	l := &Log{store: store, now: time.Now, seed: maphash.MakeSeed(), turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// Head returns the newest head known, nil before the first Load and while there is no table. It does no I/O.
func (l *Log) Head() *Head { return l.head.Load() }

// Load lists the log and replays it from the start, whatever is known already. It returns ErrNoTable (wrapped), an
// *UnsupportedError when the table cannot be read, a *CorruptError, or the storage's error.
func (l *Log) Load(ctx context.Context) (*Head, error) {
	if err := l.acquire(ctx); err != nil {
		return nil, err
	}
	defer l.release()
	return l.load(ctx)
}

// Refresh brings the head up to the newest version and returns it. It loads the log if there is no head. Else it reads the commits
// after it until there is none: k+1 reads for k new versions. When the head's own commit was last seen more than trustHead ago, or
// never, it reads that first: if it is gone or is another one (the table was rolled back, replaced, or its early commits were cleaned up),
// it loads the log; the version returned may then be a smaller one. Errors are those of Load.
func (l *Log) Refresh(ctx context.Context) (*Head, error) {
	if err := l.acquire(ctx); err != nil {
		return nil, err
	}
	defer l.release()
	return l.refresh(ctx)
}

func (l *Log) acquire(ctx context.Context) error {
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Log) release() { l.turn <- struct{}{} }

func (l *Log) load(ctx context.Context) (*Head, error) {
	h, err := l.replayHead(ctx)
	if err != nil {
		if errors.Is(err, ErrNoTable) {
			l.head.Store(nil)
		}
		return nil, err
	}
	l.moveTo(h)
	l.lookedAt = l.now()
	return h, nil
}

func (l *Log) moveTo(h *Head) { l.head.Store(h) }

func (l *Log) refresh(ctx context.Context) (*Head, error) {
	h := l.Head()
	if h == nil {
		return l.load(ctx)
	}
	if h.file == (commitFile{}) || l.now().Sub(l.lookedAt) > trustHead {
		body, err := l.store.Get(ctx, commitKey(h.Version))
		switch {
		case errors.Is(err, storage.ErrNotExist):
			return l.load(ctx)
		case err != nil:
			return nil, err
		case l.fileOf(body) != h.file:
			return l.load(ctx)
		}
		l.lookedAt = l.now()
	}
	return l.follow(ctx, h, func(*Commit) error { return nil })
}

// follow moves the head over the commits after h until there is none, showing each to see first.
func (l *Log) follow(ctx context.Context, h *Head, see func(*Commit) error) (*Head, error) {
	for {
		p, err := l.read(ctx, h.Version+1, full)
		if errors.Is(err, storage.ErrNotExist) {
			return h, nil
		}
		if err != nil {
			return nil, err
		}
		if err := see(p.commit); err != nil {
			return nil, err
		}
		if h, err = h.next(p.commit); err != nil {
			return nil, err
		}
		h.wrote(l.fileOf(p.b))
		l.moveTo(h)
		l.lookedAt = l.now()
	}
}

// read gets and parses one commit.
func (l *Log) read(ctx context.Context, version int64, d detail) (*parser, error) {
	p := &parser{}
	return p, l.readWith(ctx, p, version, d)
}

// readWith is read with a parser's memory.
func (l *Log) readWith(ctx context.Context, p *parser, version int64, d detail) error {
	body, err := storage.GetInto(ctx, l.store, commitKey(version), p.b)
	if err != nil {
		return err
	}
	err = p.parse(version, body, d)
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		corrupt.Table = l.store.URL()
	}
	return err
}

// commitFile is what tells the file of a commit from another.
type commitFile struct {
	sum   uint64
	bytes int64
}

func (l *Log) fileOf(body []byte) commitFile {
	return commitFile{maphash.Bytes(l.seed, body), int64(len(body))}
}

func (l *Log) corrupt(version int64, format string, args ...any) error {
	return &CorruptError{Table: l.store.URL(), Version: version, Reason: fmt.Sprintf(format, args...)}
}
