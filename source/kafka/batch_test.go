package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/events"
	"github.com/sluicedata/sluice/source"
)

// row is a record as both decoders have it.
type row struct {
	Offset, Time int64
	Key, Value   []byte
	Headers      []source.Header
}

// byClient reads a response with the client's decoder.
func byClient(resp *kmsg.FetchResponseTopicPartition, offset int64, level kgo.IsolationLevel, inflate kgo.Decompressor) (rows []row, next int64, err error) {
	got, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: offset, IsolationLevel: level}, resp, inflate, nil)
	for _, r := range got.Records {
		one := row{Offset: r.Offset, Time: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			one.Headers = append(one.Headers, source.Header{Key: h.Key, Value: h.Value})
		}
		rows = append(rows, one)
	}
	return rows, next, got.Err
}

// rows are what blocks of the records hold.
func (r *records) rows() []row {
	var rows []row
	_ = r.emit(partition{}, func() {}, func(b *source.Block) error { // which never fails
		for i := range b.Values {
			one := row{Offset: b.Positions[i], Time: b.Kafka.Timestamps[i], Key: b.Kafka.Keys[i], Value: b.Values[i]}
			if b.Kafka.Headers != nil {
				one.Headers = b.Kafka.Headers[i]
			}
			rows = append(rows, one)
		}
		return nil
	})
	return rows
}

// samples are responses without a fault, and the aborted transactions in them.
func samples() map[string]*kmsg.FetchResponseTopicPartition {
	some := map[string]*kmsg.FetchResponseTopicPartition{}
	add := func(name string, aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction, batches ...*wireBatch) {
		resp := &kmsg.FetchResponseTopicPartition{AbortedTransactions: aborted}
		for _, b := range batches {
			resp.RecordBatches = append(resp.RecordBatches, b.raw()...)
		}
		some[name] = resp
	}
	for name, codec := range codecs {
		compressed := func(b *wireBatch) { b.codec = codec }
		long := strings.Repeat("the same again ", 1000)
		add(name, nil, newBatch(10, "a", "", "c").with(compressed), newBatch(13, long, "d", long).with(compressed), newBatch(16, "e"))
	}
	add("nulls and headers", nil, newBatch(0, "a", "b", "c", "d").with(func(b *wireBatch) {
		b.records[1].Value, b.records[2].Key = nil, []byte{}
		b.records[2].Headers = []kmsg.Header{{Key: "k", Value: []byte("v")}, {Key: "", Value: nil}, {Key: "k", Value: []byte{}}}
		b.records[3].Headers = []kmsg.Header{{Key: "last", Value: make([]byte, 300)}}
	}), newBatch(4, "e", "f"))
	add("times of the broker", nil, newBatch(0, "a", "b").with(func(b *wireBatch) { b.Attributes |= logAppendTime }))
	add("times that go back, and far", nil, newBatch(0, "a", "b", "c").with(func(b *wireBatch) {
		b.records[1].TimestampDelta64, b.records[2].TimestampDelta64 = -1_000_000_000_000, 1<<42
	}))
	add("compacted", nil, newBatch(0, "a", "b", "c").with(func(b *wireBatch) {
		b.records[1].OffsetDelta, b.records[2].OffsetDelta, b.LastOffsetDelta = 100, 100_000, 200_000
	}), newBatch(300_000).with(func(b *wireBatch) { b.LastOffsetDelta = 9 }), newBatch(300_010, "d"))
	const p, q = 7, 8
	add("transactions", []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: q, FirstOffset: 14}, {ProducerID: p, FirstOffset: 12}, {ProducerID: p, FirstOffset: 0}},
		newBatch(0, "aborted", "aborted").transactional(p),
		newBatch(2, "without"),
		newBatch(3, "committed").transactional(q),
		newBatch(4, "aborted").transactional(p).with(func(b *wireBatch) { b.codec = codecLZ4 }),
		newMarker(5, p, 0),
		newMarker(6, q, 1),
		newBatch(7, "committed").transactional(p),
		newMarker(8, p, 1),
		newBatch(9, "of neither", "nor").transactional(9),
		newMarker(11, 9, 1),
		newBatch(12, "aborted").transactional(p),
		newMarker(13, p, 0),
		newBatch(14, "aborted").transactional(q),
		newBatch(15, "begun").transactional(p),
		newMarker(16, q, 0),
	)
	some["message sets"] = &kmsg.FetchResponseTopicPartition{RecordBatches: join(message(3, 0, "a"), message(4, 1, "b"), message(9, 1, "c", "d", "e"), newBatch(10, "f").raw())}
	return some
}

// message is an entry of a message set that ends at an offset: one message, or several in a compressed one.
func message(last int64, magic int8, values ...string) []byte {
	m := kmsg.MessageV1{Magic: magic, Timestamp: 1_700_000_000_000, Value: []byte(values[0])}
	if len(values) > 1 {
		var inner []byte
		for i, v := range values {
			inner = append(inner, message(int64(i), magic, v)...)
		}
		m.Attributes, m.Value = codecGzip, deflate(codecGzip, inner)
	}
	m.Offset = last
	raw := m.AppendTo(nil)
	if magic == 0 {
		old := kmsg.MessageV0{Offset: last, Attributes: m.Attributes, Value: m.Value}
		raw = old.AppendTo(nil)
	}
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[12:], crc32.ChecksumIEEE(raw[16:]))
	return raw
}

func TestWalkGivesWhatTheClientGives(t *testing.T) {
	levels := map[Isolation]kgo.IsolationLevel{ReadCommitted: kgo.ReadCommitted(), ReadUncommitted: kgo.ReadUncommitted()}
	for name, resp := range samples() {
		for level, clients := range levels {
			all, behind, err := byClient(resp, 0, clients, kgo.DefaultDecompressor())
			if err != nil {
				t.Fatalf("%s: the client says: %v", name, err)
			}
			for _, offset := range []int64{0, 1, 2, 7, 11, 13, 14} {
				want, next, err := byClient(resp, offset, clients, kgo.DefaultDecompressor())
				if err != nil {
					t.Fatalf("%s: the client says: %v", name, err)
				}
				req := fetchRequest{offset: offset, end: math.MaxInt64, level: level}
				got, err := req.process(resp, newInflater(maxInflated), &records{})
				if next == offset { // all is before it
					if !errors.Is(err, errNothing) {
						t.Errorf("%s, %s from %d: %v", name, level, offset, err)
					}
					continue
				}
				if err != nil || got.next != next {
					t.Errorf("%s, %s from %d: next %d, %v; want %d", name, level, offset, got.next, err, next)
					continue
				}
				if diff := cmp.Diff(want, got.records.rows(), sameBytes); diff != "" {
					t.Errorf("%s, %s from %d: %s", name, level, offset, diff)
				}
			}
			for end := int64(1); end < min(behind, 20); end++ {
				got, err := fetchRequest{end: end, level: level}.process(resp, newInflater(maxInflated), &records{})
				if err != nil || got.next > end {
					t.Errorf("%s, %s up to %d: next %d, %v", name, level, end, got.next, err)
					continue
				}
				if diff := cmp.Diff(before(all, end), got.records.rows(), sameBytes); diff != "" {
					t.Errorf("%s, %s up to %d: %s", name, level, end, diff)
				}
			}
		}
	}
}

// sameBytes compares quickly, and tells nil from empty.
var sameBytes = cmp.Comparer(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })

func before(rows []row, end int64) (kept []row) {
	for _, r := range rows {
		if r.Offset < end {
			kept = append(kept, r)
		}
	}
	return kept
}

// A response ends at any byte, when the broker has cut it to the size that was asked for.
func TestTornResponsesGiveTheirWholeBatches(t *testing.T) {
	first, second := newBatch(10, "a", "b").raw(), newBatch(12, "c").with(func(b *wireBatch) { b.codec = codecZstd }).raw()
	whole := join(first, second)
	for n := range len(whole) {
		got, err := fetchRequest{offset: 10, end: math.MaxInt64}.process(&kmsg.FetchResponseTopicPartition{RecordBatches: whole[:n]}, newInflater(maxInflated), &records{})
		var corrupt *corruptError
		switch {
		case n == 0:
			if err != nil || got.next != 10 {
				t.Errorf("nothing: next %d, %v", got.next, err)
			}
		case n < len(first):
			if !errors.As(err, &corrupt) {
				t.Errorf("%d bytes: %v", n, err)
			}
		default:
			if err != nil || got.next != 12 || got.records.len() != 2 {
				t.Errorf("%d bytes: next %d, %v", n, got.next, err)
			}
		}
	}
}

func TestFaultsInABatch(t *testing.T) {
	good := func() *wireBatch { return newBatch(12, "c", "d") }
	damaged, unknown, negative := good().raw(), good().raw(), good().raw()
	damaged[len(damaged)-1] ^= 1
	unknown[batchMagic] = 7
	binary.BigEndian.PutUint32(negative[batchLength:], 1<<31+100)
	for _, tt := range []struct {
		says string
		raw  []byte
	}{
		{"checksum", damaged},
		{"magic 7", unknown},
		{"too short", negative},
		{"too short", join(make([]byte, 11), []byte{40}, make([]byte, 4), []byte{2}, make([]byte, 40))},
		{"end too early", good().with(func(b *wireBatch) { b.NumRecords = 1 }).raw()},
		{"end too early", good().with(func(b *wireBatch) { b.NumRecords, b.Attributes = 1, b.Attributes|control }).raw()},
		{"2 bytes are left behind its 2 records", good().with(func(b *wireBatch) { b.trailer = []byte{0, 0} }).raw()},
		{"left behind its 1 records", good().with(func(b *wireBatch) { b.NumRecords = -1 }).raw()},
		{"-1 records cannot be", good().with(func(b *wireBatch) { b.NumRecords = -3 }).raw()},
		{"offsets [12, 11]", good().with(func(b *wireBatch) { b.LastOffsetDelta = -1 }).raw()},
		{"offset 12 comes after 12", good().with(func(b *wireBatch) { b.records[1].OffsetDelta = 0 }).raw()},
		{"offset 14 comes after 12 in a batch that ends at 13", good().with(func(b *wireBatch) { b.records[1].OffsetDelta = 2 }).raw()},
		{"offset 11 comes after 11", good().with(func(b *wireBatch) { b.records[0].OffsetDelta = -1 }).raw()},
		{"does not have the", good().with(func(b *wireBatch) { b.records[0].Length = 1 }).raw()},
		{"codec 5", good().with(func(b *wireBatch) { b.codec = 5 }).raw()},
		{"decompress", good().with(func(b *wireBatch) { b.Attributes |= codecZstd }).raw()},
		{"decompress", good().with(func(b *wireBatch) { b.Attributes |= codecSnappy }).raw()},
		{"decompress", good().with(func(b *wireBatch) { b.Attributes |= codecLZ4 }).raw()},
		{"decompress", good().with(func(b *wireBatch) { b.Attributes |= codecGzip }).raw()},
		{"crc", func() []byte { m := message(12, 1, "c"); m[len(m)-1] ^= 1; return m }()},
		{"no whole batch", good().raw()[:70]},
		{"no whole batch", newBatch(10, "a", "b").raw()},
	} {
		// Alone it is an error that says where; behind a good batch, of which the records come first, it is met later.
		req := fetchRequest{partition: partition{"t", 3}, offset: 12, end: math.MaxInt64}
		_, err := req.process(&kmsg.FetchResponseTopicPartition{RecordBatches: tt.raw}, newInflater(maxInflated), &records{})
		var corrupt *corruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "t/3 at offset 12") {
			t.Errorf("%s: %v", tt.says, err)
		}
		req.offset = 10
		got, err := req.process(&kmsg.FetchResponseTopicPartition{RecordBatches: join(newBatch(10, "a", "b").raw(), tt.raw)}, newInflater(maxInflated), &records{})
		if err != nil || got.next != 12 || got.records.len() != 2 || got.records.bytes != int64(len("a"+"b"+"key of b")) {
			t.Errorf("%s, behind a good batch: next %d, %v", tt.says, got.next, err)
		}
	}
}

func TestRecordsAreUsedAgainWithoutATrace(t *testing.T) {
	inflate, again := newInflater(maxInflated), &records{}
	for name, resp := range samples() {
		for range 2 {
			req := fetchRequest{end: math.MaxInt64, level: ReadCommitted}
			fresh, err := req.process(resp, inflate, &records{})
			if err != nil {
				t.Fatal(err)
			}
			used, err := req.process(resp, inflate, again)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fresh.records.rows(), used.records.rows(), sameBytes); diff != "" || used.records.bytes != fresh.records.bytes {
				t.Errorf("%s: %d and %d bytes; %s", name, used.records.bytes, fresh.records.bytes, diff)
			}
			again.reset()
		}
	}
}

func TestWalkingAllocatesNothingPerRecord(t *testing.T) {
	for name, codec := range codecs {
		raw, inflate, r := eventBatches(codec, 4, 100), newInflater(maxInflated), &records{}
		allocated := testing.AllocsPerRun(10, func() {
			w := walker{end: math.MaxInt64, inflate: inflate, records: r}
			if err := w.walk(raw); err != nil || r.len() != 400 {
				t.Fatalf("%d records, %v", r.len(), err)
			}
			r.reset()
		})
		if allocated > 200 { // with the race detector, pools forget what they hold
			t.Errorf("%s: %v allocations", name, allocated)
		}
	}
}

// eventBatches are batches of so many benchmark records each.
func eventBatches(codec uint16, batches, each int) []byte {
	g := events.New(1)
	var all []byte
	for i := range batches {
		values := make([]string, each)
		for k := range values {
			values[k] = string(g.Append(nil))
		}
		all = append(all, newBatch(int64(i*each), values...).with(func(b *wireBatch) { b.codec = codec }).raw()...)
	}
	return all
}

func FuzzWalk(f *testing.F) {
	for _, resp := range samples() {
		if len(resp.RecordBatches) < 10_000 {
			f.Add(resp.RecordBatches, uint32(0), true)
			f.Add(resp.RecordBatches, uint32(5), false)
		}
	}
	aborted := []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 7, FirstOffset: 12}, {ProducerID: 7, FirstOffset: 0}, {ProducerID: 8, FirstOffset: 14}}
	inflate := newInflater(1 << 20)
	f.Fuzz(func(t *testing.T, raw []byte, from uint32, committed bool) {
		if len(raw) >= batchRecords && raw[batchMagic] == 2 { // lets damage behind the checksum of the first one through
			n := min(uint64(len(raw)), 12+uint64(binary.BigEndian.Uint32(raw[batchLength:])))
			if n >= batchRecords {
				seal(raw[:n])
			}
		}
		resp := &kmsg.FetchResponseTopicPartition{RecordBatches: raw, AbortedTransactions: aborted}
		level, clients := ReadUncommitted, kgo.ReadUncommitted()
		if committed {
			level, clients = ReadCommitted, kgo.ReadCommitted()
		}
		got, err := fetchRequest{offset: int64(from), end: math.MaxInt64, level: level}.process(resp, inflate, &records{})
		if err != nil {
			return
		}
		// The client takes in what it can of a damaged batch, and goes on behind it.
		want, next, _ := byClient(resp, int64(from), clients, inflate)
		if got.next > next {
			t.Errorf("next %d, the client's %d", got.next, next)
		}
		mine := got.records.rows()
		for _, rows := range [][]row{want, mine} { // the client counts nanoseconds, which do not reach as far
			for i := range rows {
				rows[i].Time = time.Unix(0, rows[i].Time*1e6).UnixMilli()
			}
		}
		if diff := cmp.Diff(before(want, got.next), mine, sameBytes); diff != "" {
			t.Error(diff)
		}
	})
}

// BenchmarkWalk takes the batches of a response apart, beside the client's decoder.
func BenchmarkWalk(b *testing.B) {
	const batches, each = 6, 700
	for name, codec := range codecs {
		raw := eventBatches(codec, batches, each)
		run := func(decode func() int) func(b *testing.B) {
			return func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n := decode(); n != batches*each {
						b.Fatalf("%d records", n)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batches*each), "ns/record")
			}
		}
		inflate, r := newInflater(maxInflated), &records{}
		b.Run(fmt.Sprintf("codec=%s/by=walker", name), run(func() int {
			w := walker{end: math.MaxInt64, inflate: inflate, records: r}
			if err := w.walk(raw); err != nil {
				b.Fatal(err)
			}
			defer r.reset()
			return r.len()
		}))
		clients := kgo.DefaultDecompressor()
		b.Run(fmt.Sprintf("codec=%s/by=client", name), run(func() int {
			got, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{}, &kmsg.FetchResponseTopicPartition{RecordBatches: raw}, clients, nil)
			return len(got.Records)
		}))
	}
}
