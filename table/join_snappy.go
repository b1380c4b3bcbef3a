package table

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// joined are the values of pages of other files that become one page, compressed as they are there.
type joined struct {
	elements []byte // of Snappy
	size     int    // bytes before compression
	levels   []byte // of what was cut last
}

func (j *joined) reset() { j.elements, j.size = j.elements[:0], 0 }

// joins puts a page's values behind those of the page to come without decompressing them, if it may: PLAIN numbers, whose bounds the page
// tells, where all of the page to come is joined. Texts are decoded, since more of them may well want a dictionary.
func (k *chunk) joins(c *sourceChunk, p *sourcePage) (l levelled, ok bool, err error) {
	v, ok := k.values.(copyable)
	if !ok || !c.own || k.filter != nil || k.leaf.maxRep > 0 || k.leaf.width() == 0 || p.data.Encoding != format.Plain || v.direct() != format.Plain ||
		k.light || !compresses(k.codec, format.Snappy) || c.codec != format.Snappy || k.values.size() > 0 {
		return l, false, nil
	}
	cut, ok := cutSnappy(p.body, k.leaf.maxDef > 0, k.joined.elements, k.joined.levels)
	if !ok {
		return l, false, nil
	}
	if err := p.check(); err != nil {
		return l, false, err
	}
	k.joined.levels = cut.levels
	l, _, err = c.pages.levels(k.leaf, cut.levels, p.levels())
	switch {
	case err != nil:
		return l, false, err
	case cut.size != (l.levels-l.absent)*k.leaf.width():
		return l, false, errDamaged
	case cut.size > 0 && !v.cover(p.data.Statistics.MinValue, p.data.Statistics.MaxValue):
		return l, false, nil
	}
	k.joined.elements, k.joined.size = cut.elements, k.joined.size+cut.size
	k.addLevels(l, l.levels)
	return l, true, nil
}

// endJoined ends a page of which only pages of others are a part. Its levels are in work.body.
func (k *chunk) endJoined(work *pageWork) error {
	raw := len(work.body) + k.joined.size
	work.compressed = binary.AppendUvarint(work.compressed[:0], uint64(raw))
	work.compressed = append(appendSnappy(work.compressed, work.body, &work.light), k.joined.elements...)
	k.joined.reset()
	return k.putData(work, raw, work.compressed, format.Plain)
}
