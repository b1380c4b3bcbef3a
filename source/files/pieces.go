package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// inPieces is a large file whose pieces are read side by side. It is opened once, by whichever piece is first.
type inPieces struct {
	file
	framer format.LineFramer
	once   sync.Once
	object storage.Object // nil: not open
	lines  bool           // else its first piece is all of it
	err    error          // of opening it
}

// piece is the lines of a file that begin in the bytes [from, to).
type piece struct {
	of       *inPieces
	from, to int64
}

// pieces divides a plain file of records that may be lines, if it is large enough for at least two pieces of so many bytes.
func (s *Source) pieces(f file) []piece {
	framer, able := s.reader.framer.(format.LineFramer)
	n := int64(0)
	if able && s.pieceBytes > 0 && encodingOf(f.key) == plain {
		n = f.planned.size / s.pieceBytes
	}
	if n < 2 {
		return nil
	}
	of := &inPieces{file: f, framer: framer}
	pieces := make([]piece, n)
	for i := range pieces {
		pieces[i] = piece{of, int64(i) * s.pieceBytes, int64(i+1) * s.pieceBytes}
	}
	pieces[n-1].to = f.planned.size
	return pieces
}

func (p *piece) isLast() bool { return p.to == p.of.planned.size }

// open opens the file, which has to be as planned, and finds out whether it has lines.
func (f *inPieces) open(ctx context.Context, r *reader) error {
	f.once.Do(func() { f.err = f.tryOpen(ctx, r) })
	return f.err
}

func (f *inPieces) tryOpen(ctx context.Context, r *reader) (err error) {
	if err := r.verify(ctx, f.file); err != nil {
		return err
	}
	if f.object, err = r.open(ctx, f.file); err != nil {
		return err
	}
	head := make([]byte, min(int64(f.framer.HeadBytes()), f.planned.size))
	if _, err := io.ReadFull(io.NewSectionReader(f.object, 0, f.planned.size), head); err != nil {
		return fmt.Errorf("read %s: its first %d bytes: %w", f.partition, len(head), err)
	}
	f.lines = f.framer.HasLines(head)
	return nil
}

// close ends the reading of the file.
func (f *inPieces) close() error {
	if f.object == nil {
		return nil
	}
	err := f.object.Close()
	f.object = nil
	if err != nil {
		return fmt.Errorf("read %s: %w", f.partition, err)
	}
	return nil
}

// finish closes a file of which all has been emitted. It has to be as planned still.
func (r *reader) finish(ctx context.Context, f *inPieces) error {
	if err := r.verify(ctx, f.file); err != nil {
		return err
	}
	return f.close()
}

// readPiece cuts the piece into records, whose positions count within it, and returns the number of its lines. That the file
// is as planned behind its last piece is for the caller to find out.
func (r *reader) readPiece(ctx context.Context, p *piece, room *room, emit func(*source.Block) error) (lines int64, err error) {
	if err = p.of.open(ctx, r); err == nil {
		switch {
		case p.of.lines:
			lines, err = p.readLines(ctx, room, p.of.labelled(emit))
		case p.from == 0:
			err = r.cut(ctx, p.of.file, p.of.object, room, p.of.labelled(emit))
		}
	}
	if err != nil && ctx.Err() == nil {
		if changed := r.verify(ctx, p.of.file); changed != nil {
			return 0, changed
		}
	}
	return lines, err
}

func (p *piece) readLines(ctx context.Context, room *room, emit func(*source.Block) error) (int64, error) {
	begin, size := max(0, p.from-1), p.of.planned.size // with the byte that may end the line before
	in := &meter{ctx: ctx, r: io.NewSectionReader(p.of.object, begin, size-begin), room: room}
	text := &lineRange{r: in, at: begin, to: p.to, size: size, inside: p.from > 0}
	lines, err := p.of.framer.FrameLines(text, p.from == 0, emit)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("read %s: %w", p.of.partition, ctx.Err())
	case err != nil:
		return 0, fmt.Errorf("read %s: at byte %d of %d: %w", p.of.partition, text.at, size, err)
	case text.short:
		return 0, p.of.changed(fmt.Sprintf("only %d bytes that could be read", text.at))
	default:
		return lines, nil
	}
}

// lookAhead is how many bytes at a time are read in front of a piece's first line and behind its last one, for where that ends.
const lookAhead = 16 << 10

// lineRange is the lines that begin in front of to, in a file of which r reads from at on.
type lineRange struct {
	r      io.Reader
	at     int64 // of r's next byte
	to     int64
	size   int64 // of the file
	inside bool  // of a line that begins before the range
	ended  bool
	short  bool // the file has less than size bytes
}

// Read reads whole lines, in whatever portions.
func (l *lineRange) Read(b []byte) (int, error) {
	for !l.ended {
		wanted := l.to - l.at
		if wanted <= 0 || l.inside {
			wanted = lookAhead
		}
		begin := l.at
		n, err := l.r.Read(b[:min(int64(len(b)), wanted)])
		l.at += int64(n)
		if n = l.trim(b, n, begin); n > 0 || err != nil && err != io.EOF {
			return n, err
		}
		if err == io.EOF {
			l.ended, l.short = true, l.at < l.size
		}
	}
	return 0, io.EOF
}

// trim cuts the n bytes of b, which begin at this place of the file, to what is of the range, and returns how many these are.
func (l *lineRange) trim(b []byte, n int, begin int64) int {
	if l.inside {
		end := bytes.IndexByte(b[:n], '\n')
		if end < 0 {
			l.ended = l.at >= l.to
			return 0
		}
		n = copy(b, b[end+1:n])
		begin += int64(end + 1)
		l.inside, l.ended = false, begin >= l.to
		if l.ended {
			return 0
		}
	}
	last := l.to - 1 - begin // from where on a line feed ends the range
	if l.to == l.size || last >= int64(n) {
		return n
	}
	last = max(0, last)
	if end := bytes.IndexByte(b[last:n], '\n'); end >= 0 {
		l.ended = true
		return int(last) + end + 1
	}
	return n
}
