package json

import (
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
)

// pooledBuffers and pooledBytes bound the free buffers kept for each buffer of a column: one being filled, a few with whoever
// reads them, and none that a long record has made large.
const (
	pooledBuffers = 4
	pooledBytes   = 8 << 20
)

// pool takes a buffer back when the last Arrow array that refers to it is released, and gives it out again. It is the
// only part of a decoder that other goroutines touch. It serves as the buffers' memory.Allocator, of which Arrow only
// calls Free.
type pool struct {
	mu   sync.Mutex
	free [][]byte
}

func (p *pool) Allocate(size int) []byte { return make([]byte, size) }

func (p *pool) Reallocate(size int, b []byte) []byte {
	return append(make([]byte, 0, size), b...)[:size]
}

func (p *pool) Free(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < pooledBuffers && cap(b) <= pooledBytes/max(1, len(p.free)) {
		p.free = append(p.free, b[:0])
	}
}

// take returns an empty buffer.
func (p *pool) take() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return nil
	}
	last := len(p.free) - 1
	b := p.free[last]
	p.free = p.free[:last]
	return b
}

// wrap hands b over to Arrow; it comes back to the pool.
func (p *pool) wrap(b []byte) *memory.Buffer {
	if b == nil {
		b = []byte{}
	}
	return memory.NewBufferWithAllocator(b, p)
}

// flush returns the column's values as Arrow data of type t and empties the column. The caller releases the data.
func (c *column) flush(t arrow.DataType) arrow.ArrayData {
	nulls := c.nulls()
	buffers := make([]*memory.Buffer, 1, 3)
	if nulls > 0 {
		c.growValid(c.n)
		buffers[0] = c.validPool.wrap(cutBits(c.valid, c.n))
		c.valid = c.validPool.take()
	} else {
		c.valid = c.valid[:0]
	}
	if c.hasOffsets() {
		buffers = append(buffers, c.offsetPool.wrap(int32Bytes(c.offsets)))
		c.offsets = append(bytesInt32(c.offsetPool.take()), 0)
	}
	if len(c.kids) == 0 {
		buffers = append(buffers, c.dataPool.wrap(c.data))
		c.data = c.dataPool.take()
	}
	kids := c.flushKids(t)
	data := array.NewData(t, c.n, buffers, kids, nulls, 0)
	if c.dict != nil {
		data.SetDictionary(c.dict.arrow())
		c.dict = c.dict.renew(c.n)
	}
	for _, kid := range kids {
		kid.Release()
	}
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	c.n = 0
	return data
}

func (c *column) flushKids(t arrow.DataType) []arrow.ArrayData {
	switch c.typ.Kind {
	case schema.Array:
		return []arrow.ArrayData{c.kids[0].flush(t.(*arrow.ListType).Elem())}
	case schema.Map:
		return []arrow.ArrayData{c.flushEntries(t.(*arrow.MapType))}
	case schema.Struct:
		kids := make([]arrow.ArrayData, len(c.kids))
		for i, kid := range c.kids {
			kids[i] = kid.flush(t.(*arrow.StructType).Field(i).Type)
		}
		return kids
	default:
		return nil
	}
}

// flushEntries wraps keys and values in the struct that Arrow's map type has between itself and them.
func (c *column) flushEntries(t *arrow.MapType) arrow.ArrayData {
	n := c.kids[0].n
	kids := []arrow.ArrayData{c.kids[0].flush(t.KeyType()), c.kids[1].flush(t.ItemType())}
	entries := array.NewData(t.Elem(), n, []*memory.Buffer{nil}, kids, 0, 0)
	for _, kid := range kids {
		kid.Release()
	}
	return entries
}

// int32Bytes returns the memory of v.
func int32Bytes(v []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), cap(v)*4)[:len(v)*4]
}

// bytesInt32 returns the memory of b, which int32Bytes has made, as an empty slice.
func bytesInt32(b []byte) []int32 {
	if cap(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), cap(b)/4)[:0]
}
