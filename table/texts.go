package table

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/schema"
)

// limitUnits is where limits in data files are cut: of strings in UTF-16 units, of others in bytes.
const limitUnits = 64

const (
	fewTexts  = 2000          // enough to see that hardly any is there twice, without a dictionary of the whole page
	manyTexts = 40 * fewTexts // stored one by one after that, until a file tries a dictionary again
)

// texts are strings or bytes. As long as few of them are different they are kept in a dictionary, one for each row group;
// else they are stored one by one.
type texts struct {
	utf8 bool // strings

	dict   *dictionary // nil while texts are stored one by one
	ids    []uint32    // of the page, in the dictionary
	pages  int         // pages of the row group that refer to the dictionary
	gaveUp bool        // the file's texts are too different for a dictionary
	enough bool        // that was seen on so many texts that files to come need not see it again
	since  int         // texts since then
	own    *dictionary // dict, or what it will be in the next row group

	plain plainTexts // of the page, while there is no dictionary
	known known

	spans[stringBounds, *stringBounds]
}

func newTexts(t *schema.Type, l *layout, pageBytes int64) *texts {
	v := &texts{utf8: t.Kind == schema.String, own: newDictionary(), plain: plainTexts{compact: l.compact, spare: 2*int(pageBytes) + levelRoom}}
	v.from(stringBounds{units: max(limitUnits, l.choice.prefix)})
	v.beginGroup()
	return v
}

// known are the values of a dictionary array that the page has: whoever comes again is not looked up again.
type known struct {
	of      arrow.ArrayData // the array's dictionary
	numbers []uint32        // by index in it: the number in the row group's dictionary, plus one; 0: not in the page
}

// about turns to the values of an array's dictionary, and forgets others.
func (k *known) about(values arrow.Array) {
	if k.of == values.Data() {
		return
	}
	k.forget()
	k.of, k.numbers = values.Data(), append(k.numbers, make([]uint32, values.Len())...)
}

// appendNumbers appends the numbers of values of the page, up to the first whose number is not known.
func (k *known) appendNumbers(ids []uint32, indices, at []int32) []uint32 {
	n, numbers := len(ids), k.numbers
	ids = slices.Grow(ids, len(at))[:n+len(at)]
	to := ids[n:]
	for i, index := range at {
		number := numbers[indices[index]]
		if number == 0 {
			return ids[:n+i]
		}
		to[i] = number - 1
	}
	return ids
}

func (k *known) forget() {
	k.of, k.numbers = nil, k.numbers[:0]
	if 4*cap(k.numbers) > spareDictionary {
		k.numbers = nil
	}
}

// arrayTexts are the texts of an Arrow array of strings or binaries.
type arrayTexts struct {
	offsets []int32
	bytes   []byte
}

func textsOf(a arrow.Array) arrayTexts {
	data := a.Data()
	t := arrayTexts{offsets: arrow.Int32Traits.CastFromBytes(data.Buffers()[1].Bytes())[data.Offset():]}
	if b := data.Buffers()[2]; b != nil {
		t.bytes = b.Bytes()
	}
	return t
}

func (t *arrayTexts) at(i int32) []byte { return t.bytes[t.offsets[i]:t.offsets[i+1]] }

func (v *texts) add(a arrow.Array, at []int32) {
	if d, ok := a.(*array.Dictionary); ok {
		v.addIndexed(d, at)
	} else {
		v.addTexts(textsOf(a), at)
	}
	v.since += len(at)
	if v.dict != nil && v.pages == 0 && len(v.ids) >= fewTexts && 20*v.dict.len() > 19*len(v.ids) {
		v.giveUp()
	}
}

func (v *texts) addTexts(from arrayTexts, at []int32) {
	for n, i := range at {
		if v.dict == nil {
			v.plain.appendAll(from, at[n:], &v.ofPage)
			return
		}
		v.take(from.at(i))
	}
}

// addIndexed takes in values of an array that has a dictionary of its own.
func (v *texts) addIndexed(a *array.Dictionary, at []int32) {
	v.known.about(a.Dictionary())
	from := textsOf(a.Dictionary())
	indices := arrow.Int32Traits.CastFromBytes(a.Data().Buffers()[1].Bytes())[a.Data().Offset():]
	for len(at) > 0 {
		if v.dict != nil {
			n := len(v.ids)
			v.ids = v.known.appendNumbers(v.ids, indices, at)
			if at = at[len(v.ids)-n:]; len(at) == 0 {
				return
			}
		}
		index := indices[at[0]]
		at = at[1:]
		if v.known.numbers[index] == 0 {
			v.known.numbers[index] = v.take(from.at(index)) + 1
		} else {
			v.plain.append(from.at(index))
		}
	}
}

// take takes in a text, and returns its number while there is a dictionary.
func (v *texts) take(text []byte) (number uint32) {
	if v.dict == nil {
		v.ofPage.take(text)
		v.plain.append(text)
		return 0
	}
	number, fresh := v.dict.add(text)
	v.ids = append(v.ids, number)
	if fresh {
		v.ofPage.take(text)
	}
	if v.dict.size() > dictBytes {
		v.giveUp()
	}
	return number
}

// giveUp stores the page's texts, and all after them until the row group ends, one by one.
func (v *texts) giveUp() {
	seen := len(v.ids)
	for _, id := range v.ids {
		v.plain.append(v.dict.text(id))
	}
	v.ids = v.ids[:0]
	v.dict = nil
	if v.pages == 0 {
		v.gaveUp, v.enough, v.since = true, seen >= fewTexts, 0
		v.own.reset()
	}
}

// memory is what is held beside the page's values, in bytes.
func (v *texts) memory() int64 { return v.own.memory() + 4*int64(cap(v.known.numbers)) }

func (v *texts) size() int64 { return v.plain.size() + int64(4*len(v.ids)) }

func (v *texts) encode(work *pageWork) ([]byte, format.Encoding, error) {
	if v.dict != nil && v.pages == 0 && 2*v.dict.len() > len(v.ids) {
		v.giveUp()
	}
	if v.dict == nil || len(v.ids) == 0 {
		return v.plain.encode(work)
	}
	v.pages++
	width := widthOf(v.dict.len() - 1)
	work.body = appendHybrid(append(work.body, byte(width)), v.ids, width)
	return work.body, format.RLEDictionary, nil
}

// hash adds the texts as encode has left them.
func (v *texts) hash(f *bloomFilter) {
	if v.dict != nil {
		v.dict.eachOfPage(f.add)
		return
	}
	v.plain.each(f.add)
}

// dictionary are the texts that the row group's pages refer to, encoded PLAIN, and how many; none if no page refers to any.
func (v *texts) dictionary() (plain []byte, n int) {
	if v.pages == 0 {
		return nil, 0
	}
	return v.own.plain, v.own.len()
}

func (v *texts) limits(b *stringBounds) limits {
	if !b.some {
		return limits{}
	}
	low, top := lowerBound(b.min, v.utf8), upperBound(b.max, v.utf8)
	return limits{low, top, top != nil}
}

// lowerBound is short and not above v.
func lowerBound(v []byte, utf8 bool) []byte {
	if text, ok := minPrefix(v, limitUnits); ok && utf8 {
		return []byte(text)
	}
	return v[:min(len(v), limitUnits)]
}

// upperBound is short and not below v; nil if v begins with nothing but the greatest of characters or bytes.
func upperBound(v []byte, utf8 bool) []byte {
	if len(v) <= limitUnits {
		return append([]byte{}, v...)
	}
	if utf8 {
		text, ok := maxPrefix(v, limitUnits)
		if !ok {
			return nil
		}
		return []byte(text)
	}
	for end := limitUnits; end > 0; end-- {
		if last := v[end-1]; last < 0xff {
			return append(slices.Clone(v[:end-1]), last+1)
		}
	}
	return nil
}

func (v *texts) page() limits  { return v.limits(&v.ofPage) }
func (v *texts) group() limits { return v.limits(&v.ofGroup) }

func (v *texts) file() bounds {
	if !v.utf8 {
		return nil
	}
	return v.spans.file()
}

func (v *texts) endPage() {
	v.spans.endPage()
	v.ids = v.ids[:0]
	v.plain.reset()
	v.known.forget()
	if v.dict != nil {
		v.dict.endPage()
	}
}

func (v *texts) endGroup() {
	v.spans.endGroup()
	v.beginGroup()
}

func (v *texts) beginGroup() {
	v.own.reset()
	v.pages, v.dict = 0, nil
	if !v.gaveUp {
		v.dict = v.own
	}
}

func (v *texts) endFile() {
	v.spans.endFile()
	v.gaveUp = v.gaveUp && v.enough && v.since < manyTexts
	v.beginGroup()
}
