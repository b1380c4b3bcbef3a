package kafka

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/source"
)

// Bounds of a block; one record may exceed blockBytes.
const (
	blockRecords = 8192
	blockBytes   = 1 << 20
)

// blockMaker turns records into blocks, which it uses again. The zero value is ready.
type blockMaker struct{ free sync.Pool }

// block is a source.Block with what it refers to beside the records.
type block struct {
	source.Block
	kafka   source.Kafka
	headers [][]source.Header
}

// emit hands over the records of one partition, block by block. Each is given up by a call of freed, with the size of its
// records as limits count it and their number, once nobody holds it.
func (m *blockMaker) emit(p partition, records []*kgo.Record, freed func(bytes int64, records int), emit func(*source.Block) error) error {
	name := p.String()
	for len(records) > 0 {
		b, _ := m.free.Get().(*block)
		if b == nil {
			b = &block{}
		}
		b.Partition, b.kafka.Topic, b.kafka.Partition = name, p.topic, p.number
		n := b.fill(records)
		records = records[n:]
		b.Free = func() {
			bytes, records := b.Bytes, len(b.Values)
			m.free.Put(b)
			freed(bytes, records)
		}
		err := emit(&b.Block)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// fill makes the block one of the first records, and says of how many.
func (b *block) fill(records []*kgo.Record) int {
	k := &b.kafka
	b.Values, b.Positions, b.Bytes = b.Values[:0], b.Positions[:0], 0
	k.Timestamps, k.Keys, b.headers = k.Timestamps[:0], k.Keys[:0], b.headers[:0]
	b.Kafka, k.Headers = k, nil
	n := 0
	for _, r := range records {
		size := recordBytes(r)
		if n > 0 && (n == blockRecords || b.Bytes+size > blockBytes) {
			break
		}
		b.Values = append(b.Values, r.Value)
		b.Positions = append(b.Positions, r.Offset)
		b.Bytes += size
		k.Keys = append(k.Keys, r.Key)
		k.Timestamps = append(k.Timestamps, r.Timestamp.UnixMilli())
		b.addHeaders(n, r.Headers)
		n++
	}
	if b.headers = b.headers[:min(len(b.headers), n)]; len(b.headers) > 0 {
		for len(b.headers) < n {
			b.headers = append(b.headers, nil)
		}
		k.Headers = b.headers
	}
	return n
}

// addHeaders fills up to the record's index, if it has headers.
func (b *block) addHeaders(index int, headers []kgo.RecordHeader) {
	if len(headers) == 0 {
		return
	}
	for len(b.headers) < index {
		b.headers = append(b.headers, nil)
	}
	list := make([]source.Header, len(headers))
	for i, h := range headers {
		list[i] = source.Header{Key: h.Key, Value: h.Value}
	}
	b.headers = append(b.headers, list)
}
