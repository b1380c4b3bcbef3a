package json

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/sluicedata/sluice/schema"
)

// fewKeys is the number of keys in a map up to which a duplicate is looked for one by one.
const fewKeys = 16

// mapKeys finds duplicate keys in the map being read.
type mapKeys struct {
	places []int   // in the record, of the keys appended so far
	drop   []int   // places of keys that come again further on, so that the later one wins
	table  []int32 // open addressing over hashes, 1 + index into places; used beyond fewKeys
	seed   maphash.Seed
}

// mapping reads the object at p into a map. When a key occurs twice the object is read again, without the first of the two.
func (d *Decoder) mapping(t *taker, p int) int {
	if d.buf[p] != '{' {
		return d.unlike(t, p)
	}
	k := t.keys
	k.drop = k.drop[:0]
	depth, start := d.depth, t.col.kids[0].n
	q := d.entries(t, p)
	if q >= 0 && len(k.drop) > 0 {
		slices.Sort(k.drop)
		d.depth = depth
		t.col.kids[0].truncate(start)
		t.col.kids[1].truncate(start)
		q = d.entries(t, p)
	}
	if q >= 0 {
		t.col.closeList()
	}
	return q
}

func (d *Decoder) entries(t *taker, p int) int {
	if !d.enter(p) {
		return -1
	}
	k := t.keys
	k.places, k.table = k.places[:0], k.table[:0]
	drop := slices.Clone(k.drop)
	start := t.col.kids[0].n
	p, more := d.first(p, '}')
	for more {
		q := 0
		if len(drop) > 0 && drop[0] == p {
			drop = drop[1:]
			q = d.skipEntry(p)
		} else {
			q = d.entry(t, start, p)
		}
		if q < 0 {
			return q
		}
		p, more = d.next(q, '}')
	}
	return p
}

func (d *Decoder) skipEntry(p int) int {
	if p = d.skipString(p); p < 0 {
		return p
	}
	if p = d.colon(p); p < 0 {
		return p
	}
	return d.skip(p)
}

// entry reads a key and its value.
func (d *Decoder) entry(t *taker, start, p int) int {
	if d.buf[p] != '"' {
		return d.expected(p, "a key")
	}
	name, q := d.str(p)
	if q < 0 {
		return q
	}
	keys := t.col.kids[0]
	if reason := d.appendKey(keys, name); reason != "" {
		d.misfit("key: " + reason)
		d.at(fieldPath("", string(name)))
		return -1
	}
	t.keys.add(keys, start, p)
	if q = d.colon(q); q < 0 {
		return q
	}
	v := d.value(t.elem, q)
	if v < 0 && !d.broken {
		name, _ = d.str(p)
		d.at(fieldPath("", string(name)))
	}
	return v
}

// appendKey appends a key that is written as text, as the same value would be written in JSON without quotes, or with.
func (d *Decoder) appendKey(c *column, text []byte) string {
	switch c.typ.Kind {
	case schema.String:
		c.appendBytes(text)
		return ""
	case schema.Binary:
		return appendBase64(c, text)
	case schema.Date, schema.Timestamp, schema.TimestampNTZ:
		return d.appendInstant(c, text)
	case schema.Boolean:
		if string(text) != "true" && string(text) != "false" {
			return "neither true nor false"
		}
		c.appendBool(text[0] == 't')
		return ""
	default:
		if !isNumber(text) {
			return "not a number, as " + c.typ.String() + " wants it"
		}
		return appendNumber(c, text)
	}
}

// add notes the last key of the column, which stands at p in the record, and an equal one before it to be dropped. The
// map's keys begin at start in the column.
func (k *mapKeys) add(keys *column, start, p int) {
	i := len(k.places)
	k.places = append(k.places, p)
	if i < fewKeys {
		for j := range i {
			if bytes.Equal(keyAt(keys, start+j), keyAt(keys, start+i)) && !slices.Contains(k.drop, k.places[j]) {
				k.drop = append(k.drop, k.places[j])
				return
			}
		}
		return
	}
	if 2*(i+1) > len(k.table) {
		k.rehash(keys, start, i)
	}
	if j := k.put(keys, start, i); j >= 0 {
		k.drop = append(k.drop, k.places[j])
	}
}

// rehash makes room for more keys in the table and puts the first n in again.
func (k *mapKeys) rehash(keys *column, start, n int) {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	size := 4 * fewKeys
	for size < 4*(n+1) {
		size *= 2
	}
	k.table = slices.Grow(k.table[:0], size)[:size]
	clear(k.table)
	for i := range n {
		k.put(keys, start, i)
	}
}

// put puts key i into the table and returns the equal key whose place it takes, or -1.
func (k *mapKeys) put(keys *column, start, i int) int {
	key := keyAt(keys, start+i)
	mask := len(k.table) - 1
	for at := int(maphash.Bytes(k.seed, key)) & mask; ; at = (at + 1) & mask {
		j := int(k.table[at]) - 1
		if j >= 0 && !bytes.Equal(keyAt(keys, start+j), key) {
			continue
		}
		k.table[at] = int32(i) + 1
		return j
	}
}

// keyAt returns bytes that are equal for equal keys.
func keyAt(keys *column, i int) []byte {
	if keys.typ.Kind != schema.Boolean {
		return keys.at(i)
	}
	if keys.data[i>>3]>>(i&7)&1 == 0 {
		return falseKey[:]
	}
	return trueKey[:]
}

var falseKey, trueKey = [1]byte{0}, [1]byte{1}
