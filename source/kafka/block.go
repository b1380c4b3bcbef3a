package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/source"
)

// Bounds of a block; one record may exceed blockBytes.
const (
	blockRecords = 8192
	blockBytes   = 1 << 20
)

// blockMaker turns records into blocks, of which it reuses the slices.
type blockMaker struct {
	block   source.Block
	kafka   source.Kafka
	headers [][]source.Header
}

// emit hands over the records of one partition, block by block.
func (m *blockMaker) emit(p partition, records []*kgo.Record, emit func(*source.Block) error) error {
	m.kafka.Topic, m.kafka.Partition = p.topic, p.number
	m.block.Partition = p.String()
	for len(records) > 0 {
		n := m.fill(records)
		records = records[n:]
		if err := emit(&m.block); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the block of the first records, and says of how many.
func (m *blockMaker) fill(records []*kgo.Record) int {
	b, k := &m.block, &m.kafka
	b.Values, b.Positions, b.Bytes = b.Values[:0], b.Positions[:0], 0
	k.Timestamps, k.Keys, m.headers = k.Timestamps[:0], k.Keys[:0], m.headers[:0]
	b.Kafka, b.Faults, k.Headers = k, nil, nil
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
		m.addHeaders(n, r.Headers)
		n++
	}
	if m.headers = m.headers[:min(len(m.headers), n)]; len(m.headers) > 0 {
		for len(m.headers) < n {
			m.headers = append(m.headers, nil)
		}
		k.Headers = m.headers
	}
	return n
}

// addHeaders fills up to the record's index, if it has headers.
func (m *blockMaker) addHeaders(index int, headers []kgo.RecordHeader) {
	if len(headers) == 0 {
		return
	}
	for len(m.headers) < index {
		m.headers = append(m.headers, nil)
	}
	list := make([]source.Header, len(headers))
	for i, h := range headers {
		list[i] = source.Header{Key: h.Key, Value: h.Value}
	}
	m.headers = append(m.headers, list)
}
