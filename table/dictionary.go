package table

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// dictionary numbers different texts in the order in which they come. It is an open hash table over the texts as they
// stand in a dictionary page. Not safe for concurrent use.
type dictionary struct {
	seed   maphash.Seed
	plain  []byte   // the texts, each behind its length
	starts []uint32 // by number: where the text's bytes begin in plain
	page   []uint32 // by number: the page that referred to it last
	slots  []slot   // a power of two, at most half of them in use
	now    uint32   // the page that is being filled
}

type slot struct {
	hash   uint32
	number uint32 // plus one; 0: free
}

const (
	firstSlots      = 64
	spareDictionary = 64 << 10 // bytes
)

func newDictionary() *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots), now: 1}
}

func (d *dictionary) len() int  { return len(d.starts) }
func (d *dictionary) size() int { return len(d.plain) }

// memory is what the dictionary takes, in bytes.
func (d *dictionary) memory() int64 {
	return int64(cap(d.plain) + 4*cap(d.starts) + 4*cap(d.page) + len(d.slots)*int(unsafe.Sizeof(slot{})))
}

func (d *dictionary) text(number uint32) []byte {
	start := d.starts[number]
	length := binary.LittleEndian.Uint32(d.plain[start-4:])
	return d.plain[start : start+length]
}

// add returns the number of a text, and whether this page has not had it yet.
func (d *dictionary) add(text []byte) (number uint32, fresh bool) {
	hash := uint32(maphash.Bytes(d.seed, text))
	mask := uint32(len(d.slots) - 1)
	at := hash & mask
	for ; d.slots[at].number != 0; at = (at + 1) & mask {
		if d.slots[at].hash != hash {
			continue
		}
		number = d.slots[at].number - 1
		if string(d.text(number)) == string(text) {
			fresh = d.page[number] != d.now
			d.page[number] = d.now
			return number, fresh
		}
	}
	number = uint32(len(d.starts))
	d.slots[at] = slot{hash, number + 1}
	d.plain = binary.LittleEndian.AppendUint32(d.plain, uint32(len(text)))
	d.starts, d.page = append(d.starts, uint32(len(d.plain))), append(d.page, d.now)
	d.plain = append(d.plain, text...)
	if 2*len(d.starts) > len(d.slots) {
		d.grow()
	}
	return number, true
}

func (d *dictionary) grow() {
	old := d.slots
	d.slots = make([]slot, 2*len(old))
	mask := uint32(len(d.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		at := s.hash & mask
		for d.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = s
	}
}

// eachOfPage hands over the texts to which the page refers that is being filled.
func (d *dictionary) eachOfPage(fn func(text []byte)) {
	for number, page := range d.page {
		if page == d.now {
			fn(d.text(uint32(number)))
		}
	}
}

func (d *dictionary) endPage() { d.now++ }

// reset empties the dictionary. One that has become large gives its memory back: many files may each have some.
func (d *dictionary) reset() {
	if d.memory() > spareDictionary {
		*d = dictionary{seed: d.seed, slots: make([]slot, firstSlots), now: 1}
		return
	}
	clear(d.slots)
	d.plain, d.starts, d.page, d.now = d.plain[:0], d.starts[:0], d.page[:0], 1
}
