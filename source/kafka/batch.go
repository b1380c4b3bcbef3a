package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The fields of a record batch (magic 2) by their offsets, as https://kafka.apache.org/documentation/#recordbatch has them.
const (
	batchFirstOffset = 0  // int64
	batchLength      = 8  // int32, of what follows it
	batchMagic       = 16 // int8
	batchCRC         = 17 // uint32, CRC-32C of what follows it
	batchAttributes  = 21 // int16
	batchLastDelta   = 23 // int32
	batchFirstTime   = 27 // int64
	batchMaxTime     = 35 // int64
	batchProducer    = 43 // int64
	batchCount       = 57 // int32
	batchRecords     = 61
)

// Attributes of a batch.
const (
	codecMask     = 0x07
	logAppendTime = 0x08
	transactional = 0x10
	control       = 0x20
)

// smallestRecord is one byte each for length, attributes, time, offset, key, value and number of headers.
const smallestRecord = 7

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// walker takes the record batches of a response apart where they lie.
type walker struct {
	partition partition
	next      int64 // where to go on: behind all batches that were read whole, or at end
	end       int64 // first offset that is not wanted
	aborted   aborted
	inflate   *inflater
	records   *records
}

// batch is what the head of a record batch says.
type batch struct {
	first, last        int64 // offsets
	attributes         uint16
	firstTime, maxTime int64
	producer           int64
	count              int
	records            []byte
}

// walk reads batches from next on until they end or end is reached. Its error is of the batch at next, and none of that batch's
// records are taken in. A response may end within a batch, which is then left out.
func (w *walker) walk(raw []byte) error {
	for len(raw) > batchMagic && w.next < w.end {
		size := batchLength + 4 + int64(int32(binary.BigEndian.Uint32(raw[batchLength:])))
		if size > int64(len(raw)) {
			return nil
		}
		if size <= batchMagic {
			return fmt.Errorf("a batch of %d bytes is too short", size)
		}
		var err error
		switch magic := raw[batchMagic]; magic {
		case 0, 1:
			err = w.message(raw[:size])
		case 2:
			err = w.batch(raw[:size])
		default:
			err = fmt.Errorf("magic %d is not known", magic)
		}
		if err != nil {
			return err
		}
		raw = raw[size:]
	}
	return nil
}

// batch reads a record batch.
func (w *walker) batch(raw []byte) error {
	b, err := parseBatch(raw)
	if err != nil || b.last < w.next {
		return err
	}
	covered := b.attributes&transactional != 0 && w.aborted.covers(b.producer, b.first)
	switch {
	case b.attributes&control != 0:
		err = w.marker(b, covered)
	case covered:
		_, err = w.check(b)
	default:
		err = w.take(b)
	}
	if err == nil {
		w.next = min(b.last+1, w.end)
	}
	return err
}

// parseBatch reads the head, and checks length and checksum.
func parseBatch(raw []byte) (batch, error) {
	if len(raw) < batchRecords {
		return batch{}, fmt.Errorf("a batch of %d bytes is too short", len(raw))
	}
	be := binary.BigEndian
	if said, is := be.Uint32(raw[batchCRC:]), crc32.Checksum(raw[batchAttributes:], castagnoli); said != is {
		return batch{}, fmt.Errorf("its checksum is %08x, and says %08x", is, said)
	}
	b := batch{
		first:      int64(be.Uint64(raw[batchFirstOffset:])),
		attributes: be.Uint16(raw[batchAttributes:]),
		firstTime:  int64(be.Uint64(raw[batchFirstTime:])),
		maxTime:    int64(be.Uint64(raw[batchMaxTime:])),
		producer:   int64(be.Uint64(raw[batchProducer:])),
		count:      int(int32(be.Uint32(raw[batchCount:]))),
		records:    raw[batchRecords:],
	}
	b.last = b.first + int64(int32(be.Uint32(raw[batchLastDelta:])))
	if b.first < 0 || b.last < b.first || b.count < 0 {
		return batch{}, fmt.Errorf("offsets [%d, %d] and %d records cannot be", b.first, b.last, b.count)
	}
	return b, nil
}

// body is the records' bytes, inflated.
func (w *walker) body(b batch) ([]byte, error) {
	codec := b.attributes & codecMask
	if codec == 0 {
		w.records.held += int64(len(b.records))
		return b.records, nil
	}
	from := len(w.records.inflated)
	inflated, err := w.inflate.append(w.records.inflated, codec, b.records)
	if err != nil {
		return nil, fmt.Errorf("decompress it: %w", err)
	}
	w.records.inflated = inflated
	return inflated[from:], nil
}

// check reads the records of a batch, and takes none of them in. The bytes that it returns are there until the next batch is read.
func (w *walker) check(b batch) (body []byte, err error) {
	inflated := len(w.records.inflated)
	body, err = w.body(b)
	w.records.inflated = w.records.inflated[:inflated]
	if err != nil {
		return nil, err
	}
	return body, w.each(b, body, false)
}

// marker reads a control batch. Where the producer's transaction was aborted it ends that one, if it says so: the key of its only record
// holds a version and a type, which is 0.
func (w *walker) marker(b batch, aborted bool) error {
	body, err := w.check(b)
	if err != nil || !aborted {
		return err
	}
	_, at := varint(body, 0)    // size
	_, at = varlong(body, at+1) // attributes, time
	_, at = varint(body, at)    // offset
	if key, _ := field(body, at); len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == 0 {
		w.aborted.end(b.producer)
	}
	return nil
}

// take takes in the records of a batch that are in [next, end), or none if there is any fault.
func (w *walker) take(b batch) error {
	body, err := w.body(b)
	if err != nil {
		return err
	}
	r := w.records
	r.grow(min(b.count, len(body)/smallestRecord))
	before, bytes := r.len(), r.bytes
	if err := w.each(b, body, true); err != nil {
		r.cut(before)
		r.bytes = bytes
		return err
	}
	return nil
}

// each reads the records of a batch one by one, and takes them in if they are wanted.
func (w *walker) each(b batch, body []byte, wanted bool) error {
	at, previous := 0, b.first-1
	for range b.count {
		size, begin := varint(body, at)
		time, end := varlong(body, begin+1) // behind attributes, which have no meaning yet
		offset, end := varint(body, end)
		key, end := field(body, end)
		value, end := field(body, end)
		headers, end := varint(body, end)
		time, offset = b.firstTime+time, b.first+offset
		switch {
		case end > len(body):
			return errShort
		case offset <= previous || offset > b.last:
			return fmt.Errorf("offset %d comes after %d in a batch that ends at %d", offset, previous, b.last)
		case offset >= w.end:
			return nil
		}
		previous = offset
		if b.attributes&logAppendTime != 0 {
			time = b.maxTime
		}
		taken := wanted && offset >= w.next
		if taken {
			w.records.add(offset, time, key, value)
		}
		if headers != 0 {
			end = w.headers(body, end, headers, taken)
		}
		switch {
		case end > len(body):
			return errShort
		case int64(end) != int64(begin)+size:
			return fmt.Errorf("the record of offset %d does not have the %d bytes that it says", offset, size)
		}
		at = end
	}
	if at < len(body) {
		return fmt.Errorf("%d bytes are left behind its %d records", len(body)-at, b.count)
	}
	return nil
}

// headers reads so many of a record, which get to the newest one if it is wanted.
func (w *walker) headers(b []byte, at int, n int64, wanted bool) (end int) {
	if n < 0 {
		return len(b) + 1
	}
	for ; n > 0 && at <= len(b); n-- {
		key, behind := field(b, at)
		value, behind := field(b, behind)
		if wanted && behind <= len(b) {
			w.records.addHeader(key, value)
		}
		at = behind
	}
	return at
}

var errShort = errors.New("its records end too early")
