package table

import (
	"io"
	"sync"
)

// blockBytes is the size of the pieces in which compressed pages are kept: memory that grows by doubling is copied again
// and again, and is new to the machine each time.
const blockBytes = 64 << 10

// workspace is memory that encoders, and the columns of each, use in turn. Safe for concurrent use.
type workspace struct {
	mu     sync.Mutex
	pieces [][]byte // of blocks
	pages  []*pageWork
}

// pageWork is memory for a page that is being encoded.
type pageWork struct {
	body, compressed, light, header []byte
	ids                             []uint32 // of numbers in a dictionary
}

// append puts bytes behind the body so far, and returns it.
func (p *pageWork) append(b []byte) []byte {
	p.body = append(p.body, b...)
	return p.body
}

// compress returns a body as a compressor makes it: in memory of the work, or the body itself if it is to stay as it is.
func (p *pageWork) compress(c compressor, body []byte) (compressed []byte, err error) {
	if _, ok := c.(stored); ok {
		return body, nil
	}
	p.compressed, err = c.Encode(p.compressed, body)
	return p.compressed, err
}

// spareWork is how long a buffer may be that is kept, in bytes.
const spareWork = 4 << 20

// page returns memory, whatever is in it. release gives it back.
func (w *workspace) page() *pageWork {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.pages) - 1
	if last < 0 {
		return &pageWork{}
	}
	p := w.pages[last]
	w.pages = w.pages[:last]
	return p
}

// release takes the memory back, but for what a page of long values has made large.
func (w *workspace) release(p *pageWork) {
	if cap(p.body) > spareWork {
		p.body = nil
	}
	if cap(p.compressed) > spareWork {
		p.compressed = nil
	}
	if cap(p.light) > spareWork {
		p.light = nil
	}
	if 4*cap(p.ids) > spareWork {
		p.ids = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages = append(w.pages, p)
}

func (w *workspace) piece() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.pieces) - 1
	if last < 0 {
		return make([]byte, 0, blockBytes)
	}
	piece := w.pieces[last]
	w.pieces = w.pieces[:last]
	return piece
}

func (w *workspace) releasePieces(used [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, piece := range used {
		w.pieces = append(w.pieces, piece[:0])
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

// Write appends bytes. It does not fail.
func (b *blocks) Write(p []byte) (int, error) {
	n := len(p)
	b.n += n
	for len(p) > 0 {
		last := len(b.used) - 1
		if last < 0 || len(b.used[last]) == cap(b.used[last]) {
			b.used = append(b.used, b.workspace.piece())
			last++
		}
		some := min(len(p), cap(b.used[last])-len(b.used[last]))
		b.used[last] = append(b.used[last], p[:some]...)
		p = p[some:]
	}
	return n, nil
}

// appendTo appends n bytes from an offset on, which are there.
func (b *blocks) appendTo(to []byte, from int64, n int) []byte {
	for n > 0 {
		piece := b.used[from/blockBytes][from%blockBytes:]
		piece = piece[:min(n, len(piece))]
		to = append(to, piece...)
		from, n = from+int64(len(piece)), n-len(piece)
	}
	return to
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
	b.workspace.releasePieces(b.used)
	b.used, b.n = b.used[:0], 0
}
