package table

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// levelRoom are bytes in front of a page's texts for what comes before them in the page, so that they need not be copied behind it.
const levelRoom = 16 << 10

// plainTexts are a page's texts, one behind the other.
type plainTexts struct {
	compact bool   // lengths apart from the bytes
	room    []byte // levelRoom bytes, and the texts behind; unless compact, each behind its length
	lengths []int32
	packed  []byte
	spare   int // bytes of a page's buffer that is used again
}

// bytes are the texts as they are stored.
func (p *plainTexts) bytes() []byte {
	if p.room == nil {
		return nil
	}
	return p.room[levelRoom:]
}

func (p *plainTexts) size() int64 { return int64(len(p.bytes()) + 4*len(p.lengths)) }

func (p *plainTexts) append(text []byte) {
	p.begin()
	if p.compact {
		p.lengths = append(p.lengths, int32(len(text)))
	} else {
		p.room = binary.LittleEndian.AppendUint32(p.room, uint32(len(text)))
	}
	p.room = append(p.room, text...)
}

// appendAll appends the texts at indexes of an array, and has the bounds take them in.
func (p *plainTexts) appendAll(from arrayTexts, at []int32, b *stringBounds) {
	p.begin()
	if p.compact {
		p.appendApart(from, at, b)
		return
	}
	room := p.room
	for _, i := range at {
		text := from.at(i)
		b.take(text)
		room = append(binary.LittleEndian.AppendUint32(room, uint32(len(text))), text...)
	}
	p.room = room
}

func (p *plainTexts) appendApart(from arrayTexts, at []int32, b *stringBounds) {
	together := consecutive(at)
	if together {
		p.room = append(p.room, from.bytes[from.offsets[at[0]]:from.offsets[at[len(at)-1]+1]]...)
	}
	lengths := p.lengths
	for _, i := range at {
		text := from.at(i)
		b.take(text)
		lengths = append(lengths, int32(len(text)))
		if !together {
			p.room = append(p.room, text...)
		}
	}
	p.lengths = lengths
}

func (p *plainTexts) begin() {
	if p.room == nil {
		p.room = make([]byte, levelRoom, 2*levelRoom)
	}
}

// encode returns the page's levels with the texts behind, in the memory of either.
func (p *plainTexts) encode(work *pageWork) (body []byte, encoding format.Encoding, err error) {
	encoding = format.Plain
	if p.compact {
		encoding = format.DeltaLengthByteArray
		if p.packed, err = delta32(p.packed[:0], p.lengths); err != nil {
			return nil, encoding, err
		}
		work.append(p.packed)
	}
	if before := len(work.body); p.room != nil && before <= levelRoom {
		body = p.room[levelRoom-before:]
		copy(body, work.body)
		return body, encoding, nil
	}
	return work.append(p.bytes()), encoding, nil
}

// each hands over the texts.
func (p *plainTexts) each(fn func(text []byte)) {
	bytes := p.bytes()
	if p.compact {
		for _, n := range p.lengths {
			fn(bytes[:n])
			bytes = bytes[n:]
		}
		return
	}
	for len(bytes) > 0 {
		end := 4 + binary.LittleEndian.Uint32(bytes)
		fn(bytes[4:end])
		bytes = bytes[end:]
	}
}

// reset forgets the texts.
func (p *plainTexts) reset() {
	p.lengths = p.lengths[:0]
	if cap(p.room) > p.spare { // long texts came by
		p.room = nil
	}
	if p.room != nil {
		p.room = p.room[:levelRoom]
	}
}
