package json

import (
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Bounds of a dictionary. A column that has more texts, or a longer one, is no longer put into one.
const (
	maxTexts     = 256
	maxTextBytes = 255
	textSlots    = 2 * maxTexts
	longSlots    = 64
	// fewTexts is how many texts may be new between two flushes however few the rows are.
	fewTexts = 16
)

// dictionary numbers the different texts of a column in the order in which they come. It only grows, so that arrays may share it, until
// another one takes its place.
type dictionary struct {
	slots   *[textSlots]textSlot // open addressing
	text    []byte               // all of them
	offsets []int32              // in text; one more than there are
	limit   int                  // of texts
	long    [longSlots]int32     // one more than the number of a text of sixteen bytes or more, by the hash of the first sixteen; see longCoded
	flushed int                  // texts of the last flush
	data    *array.Data          // these, for Arrow
}

// textSlot has a text of fewer than sixteen bytes in two words, with a quote behind it and zeros behind that. Of a longer one it has the two
// words that it begins with, and the one that it ends with if it is longer than those.
type textSlot struct {
	head, next, last uint64
	number           int32
	size             int16 // of it with the quote behind it; 0 where there is none
	asIs             bool  // it has fewer than sixteen bytes, and stands in records as it is, with the quote behind it
}

// noTexts are the slots of a dictionary without a text.
var noTexts [textSlots]textSlot

func newDictionary(limit int) *dictionary {
	return &dictionary{slots: &noTexts, offsets: []int32{0}, limit: limit}
}

func (w *dictionary) len() int { return len(w.offsets) - 1 }

func (w *dictionary) at(i int32) []byte { return w.text[w.offsets[i]:w.offsets[i+1]] }

// quotes has the high bit of the lowest byte of w that is a quote. Bits above that one mean nothing.
func quotes(w uint64) uint64 {
	quote := w ^ lowBits*'"'
	return (quote - lowBits) &^ quote & highBits
}

func textHash(head, next uint64) uint64 {
	return (head ^ bits.RotateLeft64(next, 29)) * 0x9E3779B97F4A7C15 >> 48
}

// number returns the number of the text of n bytes at p of a buffer that is padded as a scanner's is, or -1 when there is no room for it.
func (w *dictionary) number(buf []byte, p, n int) int32 {
	head, next, last := word(buf, p), word(buf, p+8), uint64(0)
	switch {
	case n < 8:
		head, next = ended(head, n), 0
	case n < 16:
		next = ended(next, n-8)
	case n > 16:
		last = word(buf, p+n-8)
	}
	hash := textHash(head, next) + last*0xC2B2AE3D27D4EB4F>>48
	for ; ; hash++ {
		s := &w.slots[hash%textSlots]
		if s.size == 0 {
			return w.add(hash, textSlot{head: head, next: next, last: last, number: int32(w.len()), size: int16(n) + 1}, buf[p:p+n])
		}
		if s.head == head && s.next == next && s.last == last && int(s.size) == n+1 && (n <= 24 || string(buf[p:p+n]) == string(w.at(s.number))) {
			return s.number
		}
	}
}

// ended returns the first n bytes of w, fewer than eight, with a quote behind them.
func ended(w uint64, n int) uint64 { return w&(1<<(8*n&63)-1) | '"'<<(8*n&63) }

func (w *dictionary) add(hash uint64, s textSlot, text []byte) int32 {
	if w.len() >= w.limit || len(text) > maxTextBytes {
		return -1
	}
	if w.slots == &noTexts {
		w.slots = new([textSlots]textSlot)
	}
	asIs := standsAsItIs(text)
	s.asIs = asIs && len(text) < 16
	if asIs && len(text) >= 16 {
		w.long[textHash(s.head, s.next)%longSlots] = s.number + 1
	}
	w.slots[hash%textSlots] = s
	w.text = append(w.text, text...)
	w.offsets = append(w.offsets, int32(len(w.text)))
	return s.number
}

// standsAsItIs says whether a text is of ASCII without anything that needs an escape.
func standsAsItIs(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// bytes is what the texts take.
func (w *dictionary) bytes() int64 { return int64(len(w.text) + 4*len(w.offsets)) }

// arrow returns the texts. They are the dictionary's: who keeps them retains them.
func (w *dictionary) arrow() *array.Data {
	if n := w.len(); w.data == nil || w.data.Len() < n {
		w.data = array.NewData(arrow.BinaryTypes.String, n,
			[]*memory.Buffer{nil, memory.NewBufferBytes(int32Bytes(w.offsets)), memory.NewBufferBytes(w.text)}, nil, 0, 0)
	}
	return w.data
}

// renew returns the dictionary for what comes behind a flush of so many rows: none is worth while where most texts were new, and one that
// fills up begins anew.
func (w *dictionary) renew(rows int) *dictionary {
	fresh := w.len() - w.flushed
	w.flushed = w.len()
	switch {
	case fresh > fewTexts && 2*fresh > rows:
		return newDictionary(0)
	case 2*w.len() > maxTexts:
		return newDictionary(maxTexts)
	default:
		return w
	}
}

// codedText is the type of a column whose texts are in a dictionary.
var codedText = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// code makes an empty column of strings one of numbers of texts in a dictionary.
func (c *column) code() {
	c.dict, c.width, c.offsets = newDictionary(maxTexts), 4, nil
}

// spell writes out the texts of a coded column, which is a plain one from then on.
func (c *column) spell() {
	numbers := bytesInt32(c.data)[:c.n]
	dict := c.dict
	c.dict, c.width, c.data, c.offsets = nil, 0, c.dataPool.take(), slices.Grow([]int32{}, c.n+1)[:1]
	for i, number := range numbers {
		if len(c.valid)*8 <= i || c.valid[i>>3]>>(i&7)&1 != 0 {
			c.data = append(c.data, dict.at(number)...)
		}
		c.offsets = append(c.offsets, int32(len(c.data)))
	}
}

// arrowType is the type of the column as it is: that of its schema, but for texts in a dictionary.
func (c *column) arrowType() arrow.DataType {
	if c.dict != nil {
		return codedText
	}
	switch t := c.typ.ArrowType().(type) {
	case *arrow.ListType:
		element := t.ElemField()
		element.Type = c.kids[0].arrowType()
		return arrow.ListOfField(element)
	case *arrow.MapType:
		m := arrow.MapOf(t.KeyType(), c.kids[1].arrowType())
		m.SetItemNullable(t.ItemField().Nullable)
		return m
	case *arrow.StructType:
		fields := slices.Clone(t.Fields())
		for i, kid := range c.kids {
			fields[i].Type = kid.arrowType()
		}
		return arrow.StructOf(fields...)
	default:
		return t
	}
}
