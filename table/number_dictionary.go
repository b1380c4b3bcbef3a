package table

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"
)

const (
	mostNumbers = 4096 // of a dictionary: it stays in a core's nearest cache, and numbers take twelve bits
	lookNumbers = 1024 // enough to see that hardly any is there twice

	pageOverhead = 64 // what a dictionary page takes beside its values, in bytes, about
)

// number is a PLAIN value of a fixed width. Two are the same when their bits are: NaN is, and the zeros are not.
type number interface {
	int32 | int64 | float32 | float64
}

// numberDictionary numbers different values of a leaf in the order in which they come, for the pages of a row group, as long as they are
// few. It is an open hash table. Not safe for concurrent use.
type numberDictionary[T number] struct {
	known  []T      // by number: the dictionary page
	slots  []uint16 // a power of two, at most half of them in use: a number plus one; 0: free
	odd    uint64   // by which values are multiplied for their place: nobody can choose values that all want the same
	pages  int      // pages of the row group that refer to the dictionary
	closed bool     // the rest of the row group is stored one by one
	gaveUp bool     // and so is the rest of the file
}

func newNumberDictionary[T number]() numberDictionary[T] {
	return numberDictionary[T]{odd: rand.Uint64() | 1, slots: make([]uint16, firstSlots)}
}

// memory is what the dictionary takes, in bytes.
func (d *numberDictionary[T]) memory() int64 {
	return int64(cap(d.known))*int64(unsafe.Sizeof(T(0))) + 2*int64(cap(d.slots))
}

// encode appends a page's values to work.body, as their numbers. It appends nothing, and returns false, where they are better stored
// one by one: too many are different, or the row group's first page and the dictionary take more bytes than direct says, which is asked for no other.
func (d *numberDictionary[T]) encode(work *pageWork, values []T, direct func() int) bool {
	if d.closed || len(values) == 0 {
		return false
	}
	of, before := len(d.known), len(work.body)
	if !d.number(work, values) {
		d.close(of)
		return false
	}
	width := widthOf(len(d.known) - 1)
	work.body = appendHybrid(append(work.body, byte(width)), work.ids, width)
	if d.pages == 0 && len(work.body)-before+len(plain(d.known))+pageOverhead > direct() {
		work.body = work.body[:before]
		d.close(of)
		return false
	}
	d.pages++
	return true
}

// number puts the numbers of values into work.ids; false if too many are different.
func (d *numberDictionary[T]) number(work *pageWork, values []T) bool {
	ids := slices.Grow(work.ids[:0], len(values))[:len(values)]
	work.ids = ids
	for i, v := range values {
		n := uint32(d.slots[d.place(v)]) - 1 // where most are found
		if int(n) >= len(d.known) || pattern(d.known[n]) != pattern(v) {
			n = d.add(v)
		}
		ids[i] = n
		if known := len(d.known); known > mostNumbers || i == lookNumbers && d.pages == 0 && 10*known > 9*i {
			return false
		}
	}
	return true
}

func (d *numberDictionary[T]) add(v T) uint32 {
	if 2*len(d.known) >= len(d.slots) {
		d.grow()
	}
	at := d.place(v)
	for ; d.slots[at] != 0; at = (at + 1) & (len(d.slots) - 1) {
		if n := d.slots[at] - 1; pattern(d.known[n]) == pattern(v) {
			return uint32(n)
		}
	}
	d.known = append(d.known, v)
	d.slots[at] = uint16(len(d.known))
	return uint32(len(d.known) - 1)
}

func (d *numberDictionary[T]) place(v T) int {
	return int(pattern(v) * d.odd >> bits.LeadingZeros64(uint64(len(d.slots)-1)))
}

func (d *numberDictionary[T]) grow() {
	d.slots = make([]uint16, 2*len(d.slots))
	for i, v := range d.known {
		at := d.place(v)
		for d.slots[at] != 0 {
			at = (at + 1) & (len(d.slots) - 1)
		}
		d.slots[at] = uint16(i + 1)
	}
}

// pattern are the bits of a number.
func pattern[T number](v T) uint64 {
	if unsafe.Sizeof(v) == 8 {
		return *(*uint64)(unsafe.Pointer(&v))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&v)))
}

// close takes no page any more, and forgets all values but those that pages refer to.
func (d *numberDictionary[T]) close(n int) {
	d.known, d.closed = d.known[:n], true
	d.gaveUp = d.gaveUp || d.pages == 0
}

// dictionary are the values that the row group's pages refer to, encoded PLAIN, and how many.
func (d *numberDictionary[T]) dictionary() (body []byte, n int) {
	return plain(d.known), len(d.known)
}

func (d *numberDictionary[T]) endGroup() {
	clear(d.slots)
	d.known, d.pages, d.closed = d.known[:0], 0, d.gaveUp
}

func (d *numberDictionary[T]) endFile() {
	d.gaveUp = false
	d.endGroup()
}
