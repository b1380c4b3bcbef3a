package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var codecs = map[string]uint16{"none": 0, "gzip": codecGzip, "snappy": codecSnappy, "lz4": codecLZ4, "zstd": codecZstd}

// wireBatch is a record batch to be, as kmsg has it but for its records.
type wireBatch struct {
	kmsg.RecordBatch
	records []kmsg.Record
	codec   uint16
	trailer []byte // behind the records
}

// newBatch makes a batch of values, one an offset from first on, some with keys.
func newBatch(first int64, values ...string) *wireBatch {
	b := &wireBatch{}
	b.FirstOffset, b.Magic, b.ProducerID, b.ProducerEpoch, b.FirstSequence = first, 2, -1, -1, -1
	b.LastOffsetDelta, b.FirstTimestamp, b.MaxTimestamp = int32(len(values)-1), 1_700_000_000_000, 1_700_000_100_000
	for i, v := range values {
		r := kmsg.Record{OffsetDelta: int32(i), TimestampDelta64: int64(i * 100), Value: []byte(v)}
		if i%3 == 1 {
			r.Key = fmt.Append(nil, "key of ", v)
		}
		b.records = append(b.records, r)
	}
	return b
}

// transactional makes it one of a producer's transaction.
func (b *wireBatch) transactional(producer int64) *wireBatch {
	b.ProducerID = producer
	b.Attributes |= transactional
	return b
}

// newMarker makes the end of a producer's transaction.
func newMarker(offset, producer int64, commit byte) *wireBatch {
	b := newBatch(offset, "\x00\x00\x00\x00\x00\x00").transactional(producer)
	b.Attributes |= control
	b.records[0].Key = []byte{0, 0, 0, commit}
	return b
}

// with makes a change.
func (b *wireBatch) with(change func(b *wireBatch)) *wireBatch {
	change(b)
	return b
}

// raw is the batch as a response has it.
func (b *wireBatch) raw() []byte {
	wire := b.RecordBatch
	var body []byte
	for _, r := range b.records {
		r.Length += int32(len(r.AppendTo(nil)) - 1) // less its own byte, which is that of 0
		body = r.AppendTo(body)
	}
	wire.Attributes |= int16(b.codec)
	wire.NumRecords += int32(len(b.records))
	wire.Records = deflate(b.codec, append(body, b.trailer...))
	wire.Length = int32(len(wire.AppendTo(nil)) - 12)
	return seal(wire.AppendTo(nil))
}

// seal corrects the checksum of a batch.
func seal(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[batchCRC:], crc32.Checksum(raw[batchAttributes:], castagnoli))
	return raw
}

func deflate(codec uint16, body []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch codec {
	case codecGzip:
		w = gzip.NewWriter(&out)
	case codecSnappy:
		return snappy.Encode(nil, body)
	case codecLZ4:
		w = lz4.NewWriter(&out)
	case codecZstd:
		w, _ = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10)) // fails only for options that cannot be
	default:
		return body
	}
	_, err := w.Write(body)
	if closeErr := w.Close(); err != nil || closeErr != nil {
		panic("a buffer refused to be written") // memory takes all that is written
	}
	return out.Bytes()
}

func join(batches ...[]byte) []byte { return bytes.Join(batches, nil) }
