package kafka

import (
	"slices"
	"sync/atomic"

	"github.com/sluicedata/sluice/source"
)

// Bounds of a block; one record may exceed blockBytes.
const (
	blockRecords = 8192
	blockBytes   = 1 << 20
)

const (
	// recordOverhead is what a record takes in the slices of records, in bytes.
	recordOverhead = 24 + 24 + 8 + 8
	// maxHeaderKeys is how many different keys of headers are kept as strings.
	maxHeaderKeys = 1024
)

// records are what one response brought, in columns as a block has them: one element a record in each slice. Values, keys and
// headers lie where they were received, or in inflated. All of it is used again for another response.
type records struct {
	values   [][]byte
	keys     [][]byte
	offsets  []int64           // ascend
	times    []int64           // ms since the epoch
	headers  [][]source.Header // up to the last record that has some
	list     []source.Header   // what the elements of headers are parts of
	names    map[string]string // keys of headers
	inflated []byte            // batches that came compressed
	held     int64             // bytes of batches that came as they are
	bytes    int64             // of values, keys and headers, as limits count them
	holds    atomic.Int32      // blocks that somebody has, and whoever emits them
}

func (r *records) len() int { return len(r.values) }

// memory is how many bytes the records keep in memory.
func (r *records) memory() int64 {
	return int64(cap(r.inflated)) + r.held + recordOverhead*int64(r.len())
}

// grow makes room for n more.
func (r *records) grow(n int) {
	r.values, r.keys = slices.Grow(r.values, n), slices.Grow(r.keys, n)
	r.offsets, r.times = slices.Grow(r.offsets, n), slices.Grow(r.times, n)
}

// add takes a record in, without headers.
func (r *records) add(offset, time int64, key, value []byte) {
	r.values = append(r.values, value)
	r.keys = append(r.keys, key)
	r.offsets = append(r.offsets, offset)
	r.times = append(r.times, time)
	r.bytes += int64(len(key) + len(value))
}

// addHeader gives a header to the newest record.
func (r *records) addHeader(key, value []byte) {
	for len(r.headers) < r.len() {
		r.headers = append(r.headers, nil)
	}
	r.list = append(r.list, source.Header{Key: r.name(key), Value: value})
	last := &r.headers[r.len()-1]
	n := len(r.list)
	*last = r.list[n-1-len(*last) : n : n]
	r.bytes += int64(len(key) + len(value))
}

// name is a header's key as a string that is made once.
func (r *records) name(key []byte) string {
	if s, known := r.names[string(key)]; known {
		return s
	}
	s := string(key)
	if r.names == nil {
		r.names = map[string]string{}
	}
	if len(r.names) < maxHeaderKeys {
		r.names[s] = s
	}
	return s
}

// cut leaves the first n records.
func (r *records) cut(n int) {
	r.values, r.keys, r.offsets, r.times = r.values[:n], r.keys[:n], r.offsets[:n], r.times[:n]
	r.headers = r.headers[:min(n, len(r.headers))]
}

// reset forgets all records, and keeps the memory.
func (r *records) reset() {
	clear(r.values) // what they lie in is to be collected
	clear(r.keys)
	clear(r.headers)
	clear(r.list)
	r.cut(0)
	r.list, r.inflated, r.held, r.bytes = r.list[:0], r.inflated[:0], 0, 0
}

// emit hands over the records of one partition, block by block. freed is called once nobody holds any of them.
func (r *records) emit(p partition, freed func(), emit func(*source.Block) error) error {
	for len(r.headers) > 0 && len(r.headers) < r.len() {
		r.headers = append(r.headers, nil)
	}
	r.holds.Store(1)
	release := func() {
		if r.holds.Add(-1) == 0 {
			freed()
		}
	}
	defer release()
	name := p.String()
	for from, to := 0, 0; from < r.len(); from = to {
		kafka := &source.Kafka{Topic: p.topic, Partition: p.number}
		block := &source.Block{Partition: name, Kafka: kafka, Free: release}
		to, block.Bytes = r.block(from)
		block.Values, block.Positions = r.values[from:to], r.offsets[from:to]
		kafka.Keys, kafka.Timestamps = r.keys[from:to], r.times[from:to]
		if len(r.headers) > 0 && slices.ContainsFunc(r.headers[from:to], func(h []source.Header) bool { return h != nil }) {
			kafka.Headers = r.headers[from:to]
		}
		r.holds.Add(1)
		err := emit(block)
		block.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// block says where the block that begins at from ends, and how many bytes it holds.
func (r *records) block(from int) (to int, bytes int64) {
	for to = from; to < min(r.len(), from+blockRecords); to++ {
		size := r.size(to)
		if to > from && bytes+size > blockBytes {
			break
		}
		bytes += size
	}
	return to, bytes
}

// size is that of one record as limits count it.
func (r *records) size(i int) int64 {
	n := len(r.keys[i]) + len(r.values[i])
	if i < len(r.headers) {
		for _, h := range r.headers[i] {
			n += len(h.Key) + len(h.Value)
		}
	}
	return int64(n)
}
