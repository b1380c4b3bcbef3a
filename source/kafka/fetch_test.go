package kafka

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batch makes a record batch of values, one an offset from first on, whose last offset is last.
func batch(first, last int64, values ...string) []byte {
	var records []byte
	for i, v := range values {
		var body []byte
		body = append(body, 0)                     // attributes
		body = binary.AppendVarint(body, 0)        // timestamp delta
		body = binary.AppendVarint(body, int64(i)) // offset delta
		body = binary.AppendVarint(body, -1)       // no key
		body = binary.AppendVarint(body, int64(len(v)))
		body = append(body, v...)
		body = binary.AppendVarint(body, 0) // headers
		records = append(binary.AppendVarint(records, int64(len(body))), body...)
	}
	b := kmsg.RecordBatch{
		FirstOffset: first, Magic: 2, LastOffsetDelta: int32(last - first), ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: int32(len(values)), Records: records,
	}
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	raw := b.AppendTo(nil)
	return seal(raw)
}

// seal corrects the checksum of a batch.
func seal(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func join(batches ...[]byte) []byte {
	var all []byte
	for _, b := range batches {
		all = append(all, b...)
	}
	return all
}

func TestResponsesMoveThePositionOnlyOverWhatWasRead(t *testing.T) {
	damaged := batch(12, 13, "c", "d")
	damaged[len(damaged)-1] ^= 1
	future := batch(12, 13, "c", "d")
	future[16] = 7
	short := batch(12, 13, "c", "d")
	binary.BigEndian.PutUint32(short[57:], 3) // says three records, holds two
	seal(short)
	tests := []struct {
		name    string
		bytes   []byte
		offset  int64
		records int
		next    int64
		corrupt bool
	}{
		{"nothing", nil, 10, 0, 10, false},
		{"two batches", join(batch(10, 11, "a", "b"), batch(12, 13, "c", "d")), 10, 4, 14, false},
		{"from within a batch", batch(10, 11, "a", "b"), 11, 1, 12, false},
		{"a batch that compaction left empty", batch(10, 19), 10, 0, 20, false},
		{"a batch that compaction cut at its end", batch(10, 19, "a"), 10, 1, 20, false},
		{"the response ends within a batch", join(batch(10, 11, "a", "b"), batch(12, 13, "c", "d")[:40]), 10, 2, 12, false},
		{"damaged", damaged, 12, 0, 0, true},
		{"damaged behind a good one", join(batch(10, 11, "a", "b"), damaged), 10, 2, 12, false},
		{"unknown magic", future, 12, 0, 0, true},
		{"unknown magic behind a good one", join(batch(10, 11, "a", "b"), future), 10, 2, 12, false},
		{"fewer records than it says, read on", short, 14, 0, 0, true},
		{"a stump alone", batch(12, 13, "c", "d")[:40], 12, 0, 0, true},
		{"only what is before the offset", batch(10, 11, "a", "b"), 12, 0, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := fetchRequest{partition: partition{"t", 0}, offset: tt.offset, level: kgo.ReadCommitted()}
			got, err := req.process(&kmsg.FetchResponseTopicPartition{RecordBatches: tt.bytes}, kgo.DefaultDecompressor())
			var corrupt *corruptError
			if errors.As(err, &corrupt) != tt.corrupt || !tt.corrupt && err != nil {
				t.Fatalf("error %v, want corrupt %v", err, tt.corrupt)
			}
			if len(got.records) != tt.records || got.next != tt.next {
				t.Errorf("%d records, next %d; want %d, %d", len(got.records), got.next, tt.records, tt.next)
			}
		})
	}
}

func TestResponseErrorsKeepTheirCode(t *testing.T) {
	req := fetchRequest{partition: partition{"t", 0}, level: kgo.ReadCommitted()}
	_, err := req.process(&kmsg.FetchResponseTopicPartition{ErrorCode: kerr.OffsetOutOfRange.Code}, kgo.DefaultDecompressor())
	if !errors.Is(err, kerr.OffsetOutOfRange) {
		t.Errorf("error %v", err)
	}
}

func FuzzProcessKeepsRecordsWithinThePosition(f *testing.F) {
	f.Add(batch(10, 11, "a", "b"), int64(10))
	f.Add(join(batch(10, 19, "a"), batch(20, 20, "b")), int64(12))
	f.Add(batch(10, 19)[:30], int64(10))
	f.Fuzz(func(t *testing.T, raw []byte, offset int64) {
		if len(raw) >= 61 { // lets damage behind the checksum through
			seal(raw)
		}
		req := fetchRequest{partition: partition{"t", 0}, offset: offset, level: kgo.ReadCommitted()}
		got, err := req.process(&kmsg.FetchResponseTopicPartition{RecordBatches: raw}, kgo.DefaultDecompressor())
		if err != nil {
			return
		}
		if got.next < offset {
			t.Errorf("the position went back from %d to %d", offset, got.next)
		}
		for _, r := range got.records {
			if r.Offset < offset || r.Offset >= got.next {
				t.Errorf("record %d outside of [%d, %d)", r.Offset, offset, got.next)
			}
		}
	})
}
