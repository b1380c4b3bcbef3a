package json

import (
	"sync"
	"sync/atomic"

	"github.com/sluicedata/sluice/source"
)

// frameMemory is the memory of files that are being cut, and of the blocks made of them, to be used again. Safe for
// concurrent use.
type frameMemory struct {
	size    int // of a window, as long as records fit into it
	windows sync.Pool
	blocks  sync.Pool
}

// window is a part of a file. Who cuts it holds it, as does each block that refers to it.
type window struct {
	text    []byte
	memory  *frameMemory
	holders atomic.Int32
}

// window returns one of so many bytes, whatever they are, which the caller holds.
func (m *frameMemory) window(size int) *window {
	var w *window
	if size == m.size {
		w, _ = m.windows.Get().(*window)
	}
	if w == nil {
		w = &window{text: make([]byte, size, size+padding), memory: m}
	}
	w.holders.Store(1)
	return w
}

func (w *window) release() {
	if w.holders.Add(-1) == 0 && len(w.text) == w.memory.size {
		w.memory.windows.Put(w)
	}
}

// held says whether blocks hold the window. To be called by who cuts it.
func (w *window) held() bool { return w.holders.Load() > 1 }

// copiedBytes is the most text that the last block of a file copies, in bytes, so as not to hold a window for it.
const copiedBytes = 64 << 10

// frameBlock is a block of a file, with what its records are in.
type frameBlock struct {
	source.Block
	memory *frameMemory
	window *window // nil unless values refer to it
	text   []byte  // copied out of a window
}

// block returns an empty block, which the caller releases.
func (m *frameMemory) block() *frameBlock {
	b, _ := m.blocks.Get().(*frameBlock)
	if b == nil {
		b = &frameBlock{memory: m}
	}
	b.Free = b.free
	return b
}

// hold keeps the window for the block.
func (b *frameBlock) hold(w *window) {
	w.holders.Add(1)
	b.window = w
}

// copyText moves the values to memory of the block's own.
func (b *frameBlock) copyText() {
	b.text = b.text[:0]
	for _, v := range b.Values {
		b.text = append(b.text, v...)
	}
	at := 0
	for i, v := range b.Values {
		if v != nil {
			b.Values[i] = b.text[at : at+len(v)]
			at += len(v)
		}
	}
}

func (b *frameBlock) free() {
	if b.window != nil {
		b.window.release()
	}
	clear(b.Values) // they may be all that keeps a window of a long record
	b.window = nil
	b.Block = source.Block{Values: b.Values[:0], Positions: b.Positions[:0], Faults: b.Faults[:0]}
	b.memory.blocks.Put(b)
}
