package commitlog

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

// statsBlock is about how many bytes of statistics are compressed together.
const statsBlock = 64 << 10

// statsList keeps statistics, one after the other.
type statsList struct {
	blocks [][]byte // compressed
	open   []byte   // sized texts, not yet compressed
	work   []byte
}

func (s *statsList) append(text []byte) {
	s.open = appendSized(s.open, text)
	if len(s.open) >= statsBlock {
		s.work = s2.Encode(s.work[:cap(s.work)], s.open)
		s.blocks = append(s.blocks, slices.Clone(s.work))
		s.open = s.open[:0]
	}
}

// listedStats goes through them.
type listedStats struct {
	list  *statsList
	block int
	rest  []byte
	work  []byte
}

// next is the next text; it is valid until the call after.
func (r *listedStats) next() []byte {
	if len(r.rest) == 0 {
		r.fill()
	}
	var text []byte
	text, r.rest = cutSized(r.rest)
	return text
}

func (r *listedStats) fill() {
	if r.block == len(r.list.blocks) {
		r.rest = r.list.open
		return
	}
	r.work, _ = s2.Decode(r.work[:cap(r.work)], r.list.blocks[r.block]) // our own: it cannot fail
	r.rest = r.work
	r.block++
}
