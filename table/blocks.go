package table

import "io"

// blockBytes is the size of the pieces in which compressed pages are kept: memory that grows by doubling is copied again
// and again, and is new to the machine each time.
const blockBytes = 64 << 10

// workspace is memory that encoders use in turn. Not safe for concurrent use.
type workspace struct {
	spare                    [][]byte // pieces of blocks
	body, compressed, header []byte   // of the page that is being encoded
}

// spareWork is how long a buffer of a workspace may be that is kept, in bytes.
const spareWork = 4 << 20

// shrink lets go of what a page of long values has made large.
func (w *workspace) shrink() {
	if cap(w.body) > spareWork {
		w.body = nil
	}
	if cap(w.compressed) > spareWork {
		w.compressed = nil
	}
}

// blocks are bytes in pieces of a workspace.
type blocks struct {
	workspace *workspace
	used      [][]byte // all but the last full
	n         int
}

func (b *blocks) len() int { return b.n }

// memory is what the bytes take, at least their number.
func (b *blocks) memory() int64 { return int64(len(b.used)) * blockBytes }

func (b *blocks) append(p []byte) {
	b.n += len(p)
	for len(p) > 0 {
		last := len(b.used) - 1
		if last < 0 || len(b.used[last]) == cap(b.used[last]) {
			b.used = append(b.used, b.workspace.piece())
			last++
		}
		n := min(len(p), cap(b.used[last])-len(b.used[last]))
		b.used[last] = append(b.used[last], p[:n]...)
		p = p[n:]
	}
}

func (w *workspace) piece() []byte {
	if n := len(w.spare); n > 0 {
		piece := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return piece
	}
	return make([]byte, 0, blockBytes)
}

func (b *blocks) writeTo(w io.Writer) error {
	for _, piece := range b.used {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func (b *blocks) reset() {
	for _, piece := range b.used {
		b.workspace.spare = append(b.workspace.spare, piece[:0])
	}
	b.used, b.n = b.used[:0], 0
}
