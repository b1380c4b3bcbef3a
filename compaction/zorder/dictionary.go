package zorder

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// dictionary numbers the different texts of a column, as far as files have them in dictionaries: so the texts themselves need not be moved.
// It takes in no more once they take more than its room.
type dictionary struct {
	typ     arrow.DataType
	room    int64 // bytes
	numbers map[string]int32
	starts  []int32
	bytes   []byte

	of    arrow.ArrayData // the array whose texts were numbered last
	known []int32         // their numbers
	made  *array.Data     // of all texts
}

// entryBytes is about what a text takes in a dictionary beside its bytes, which are there twice.
const entryBytes = 64

func newDictionary(t arrow.DataType) *dictionary {
	return &dictionary{typ: t, numbers: make(map[string]int32), starts: []int32{0}}
}

func (d *dictionary) text(number int32) []byte { return d.bytes[d.starts[number]:d.starts[number+1]] }

// numbersOf are the numbers of an array's texts; nil when there is no room for them, or there are none.
func (d *dictionary) numbersOf(a arrow.ArrayData) []int32 {
	if d.of == a {
		return d.known
	}
	d.of, d.known = a, d.known[:0]
	starts, bytes := cast[int32](bufferOf(a, 1)), bufferOf(a, 2)
	for i := range a.Len() {
		number, ok := d.number(bytes[starts[i]:starts[i+1]])
		if !ok {
			d.of = nil
			return nil
		}
		d.known = append(d.known, number)
	}
	if len(d.known) == 0 {
		d.of = nil
		return nil
	}
	return d.known
}

func (d *dictionary) number(text []byte) (number int32, ok bool) {
	if number, ok = d.numbers[string(text)]; ok {
		return number, true
	}
	if d.room -= int64(2*len(text) + entryBytes); d.room < 0 {
		return 0, false
	}
	number = int32(len(d.numbers))
	d.numbers[string(text)] = number
	d.bytes = append(d.bytes, text...)
	d.starts = append(d.starts, int32(len(d.bytes)))
	d.made = nil
	return number, true
}

// data is an array of all texts, the same for as long as none are added.
func (d *dictionary) data() *array.Data {
	if d.made == nil {
		d.made = array.NewData(d.typ, len(d.numbers), []*arrowmemory.Buffer{
			nil, arrowmemory.NewBufferBytes(bytesOf(d.starts)), arrowmemory.NewBufferBytes(d.bytes),
		}, nil, 0, 0)
	}
	return d.made
}
