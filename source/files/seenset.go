package files

import "math/bits"

const (
	seenShards  = 256
	minSlots    = 8
	maxLoadNum  = 17 // a shard grows when more than 17/20 of its slots are used
	maxLoadDen  = 20
	growthShift = 2 // by 1/4, at most to 0.68 used: 32/0.68 = 47 bytes a file
)

// seenSet maps paths to the identity they were planned with, in at most about 50 bytes a path. The zero value is empty.
// Open addressing with linear probing; sharded, so that growing moves a 256th at a time.
type seenSet struct {
	shards [seenShards]shard
	n      int
}

type shard struct {
	slots []entry // a zero path is a free slot
	used  int
}

func (s *seenSet) len() int { return s.n }

// get returns the identity of a path.
func (s *seenSet) get(path pathHash) (identity, bool) {
	sh := &s.shards[path.hi>>56]
	if len(sh.slots) == 0 {
		return identity{}, false
	}
	slot := &sh.slots[sh.find(path)]
	return slot.identity, slot.path == path
}

// put sets the identity of a path.
func (s *seenSet) put(e entry) {
	sh := &s.shards[e.path.hi>>56]
	if (sh.used+1)*maxLoadDen > len(sh.slots)*maxLoadNum {
		sh.grow(max(minSlots, len(sh.slots)+len(sh.slots)>>growthShift))
	}
	slot := &sh.slots[sh.find(e.path)]
	if slot.path != e.path {
		sh.used++
		s.n++
	}
	*slot = e
}

// reserve makes room for n paths in all, so that adding them one by one does not move them again.
func (s *seenSet) reserve(n int) {
	slots := n / seenShards * maxLoadDen / maxLoadNum
	for i := range s.shards {
		if sh := &s.shards[i]; slots > max(minSlots, len(sh.slots)) {
			sh.grow(slots)
		}
	}
}

// find returns the slot that holds the path, or the free one that would.
func (sh *shard) find(path pathHash) int {
	at, _ := bits.Mul64(path.lo, uint64(len(sh.slots)))
	for i := int(at); ; i++ {
		if i == len(sh.slots) {
			i = 0
		}
		if p := sh.slots[i].path; p == path || p == (pathHash{}) {
			return i
		}
	}
}

func (sh *shard) grow(slots int) {
	old := sh.slots
	sh.slots = make([]entry, slots)
	for _, e := range old {
		if e.path != (pathHash{}) {
			sh.slots[sh.find(e.path)] = e
		}
	}
}
