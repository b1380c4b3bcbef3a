package kafka

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/source"
)

func TestReadGivesTheSameRecordsEveryTime(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 4)
		for n := range int32(4) {
			c.Produce(t, topic, n, kafkatest.Records(fmt.Sprint("p", n), 500)...)
		}
		p := begin(t, c, nil, topic)
		ranges := p.next(source.Limits{MaxRecords: 333}).Ranges
		first, _ := p.read(ranges)
		if len(first) != 333 {
			t.Errorf("%d records, want 333", len(first))
		}
		p.restart(nil)
		second, _ := p.read(ranges)
		expect(t, "second reading", first, second)
		slices.Reverse(ranges)
		third, _ := p.read(ranges)
		slices.Sort(third)
		slices.Sort(first)
		expect(t, "reading in another order", first, third)
	})
}

func TestBlocksCarryAllThatARecordHas(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1, "retention.ms=-1")
		stamp := time.UnixMilli(1_700_000_000_123)
		c.Produce(t, topic, 0,
			&kgo.Record{Timestamp: stamp, Key: []byte("k"), Value: []byte("v")},
			&kgo.Record{Timestamp: stamp, Key: nil, Value: nil},
			&kgo.Record{Timestamp: stamp, Key: []byte{}, Value: []byte{}},
			&kgo.Record{Timestamp: stamp, Value: []byte("h"), Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "", Value: nil}, {Key: "e", Value: []byte{}}}},
			&kgo.Record{Timestamp: stamp, Value: []byte("last")},
		)
		p := begin(t, c, nil, topic)
		var got []*source.Block
		_, err := p.source.Read(t.Context(), p.next(source.Limits{}).Ranges, func(b *source.Block) error {
			got = append(got, clone(b, len(b.Values)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ms := stamp.UnixMilli()
		want := []*source.Block{{
			Partition: topic + "/0",
			Values:    [][]byte{[]byte("v"), nil, {}, []byte("h"), []byte("last")},
			Positions: []int64{0, 1, 2, 3, 4},
			Bytes:     10,
			Kafka: &source.Kafka{
				Topic: topic, Partition: 0,
				Timestamps: []int64{ms, ms, ms, ms, ms},
				Keys:       [][]byte{[]byte("k"), nil, {}, nil, nil},
				Headers:    [][]source.Header{nil, nil, nil, {{Key: "a", Value: []byte("1")}, {Key: "", Value: nil}, {Key: "e", Value: []byte{}}}, nil},
			},
		}}
		expect(t, "blocks", want, got)
	})
}

func TestLargeRecordsAndBlockBounds(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 2, "max.message.bytes=3000000")
		big := bytes.Repeat([]byte("x"), 1_000_000)
		for range 6 {
			c.ProduceWith(t, topic, 0, []kgo.Opt{kgo.ProducerBatchMaxBytes(2_000_000)}, &kgo.Record{Value: big})
		}
		c.Produce(t, topic, 1, kafkatest.Records("small", 20_000)...)
		p := begin(t, c, func(cfg *Config) {
			cfg.FetchMaxBytes, cfg.FetchMaxPartitionBytes, cfg.Memory = 100_000, 10_000, fetchMemory(1) // all smaller than a record
		}, topic)
		count := map[string]int{}
		_, err := p.source.Read(t.Context(), p.next(source.Limits{}).Ranges, func(b *source.Block) error {
			if len(b.Values) > blockRecords || len(b.Values) > 1 && b.Bytes > blockBytes {
				t.Errorf("block of %d records, %d bytes", len(b.Values), b.Bytes)
			}
			count[b.Partition] += len(b.Values)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "records", map[string]int{topic + "/0": 6, topic + "/1": 20_000}, count)

		p.plans = nil
		p.restart(nil)
		if planned := p.next(source.Limits{MaxBytes: 3_000_000}); planned.Records > 20_004 || !planned.More {
			t.Errorf("a first plan within 3 MB: %d records, %v", planned.Records, spans(planned.Ranges))
		}
	})
}

func TestReadEndsPromptlyWhenCancelled(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 12)
		for n := range int32(12) {
			c.Produce(t, topic, n, kafkatest.Records("v", 3000)...)
		}
		p := begin(t, c, func(cfg *Config) { cfg.Memory = fetchMemory(1 << 16) }, topic)
		ranges := p.next(source.Limits{}).Ranges
		within(t, 2*time.Second, func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := p.source.Read(ctx, ranges, func(*source.Block) error {
				cancel()
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
				t.Errorf("error %v, want that of the context", err)
			}
			boom := fmt.Errorf("boom")
			if _, err := p.source.Read(t.Context(), ranges, func(*source.Block) error { return boom }); err != boom {
				t.Errorf("error %v, want that of emit", err)
			}
		})
	})
}

func TestAllCodecs(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		codecs := map[string]kgo.CompressionCodec{
			"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
			"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
		}
		topic := c.Topic(t, 1)
		var want []string
		for name, codec := range codecs {
			c.ProduceWith(t, topic, 0, []kgo.Opt{kgo.ProducerBatchCompression(codec)}, kafkatest.Records(name, 1000)...)
			for i := range 1000 {
				want = append(want, fmt.Sprintf("%s/0@%d=%s-%d", topic, len(want), name, i))
			}
		}
		p := begin(t, c, nil, topic)
		expect(t, "records", want, p.all(source.Limits{MaxRecords: 777}))
	})
}

func TestMemoryIsBoundedByTheBudget(t *testing.T) {
	c := kafkatest.Broker(t)
	topic := c.Topic(t, 64)
	for partition := range int32(64) {
		c.Produce(t, topic, partition, &kgo.Record{Value: make([]byte, 990_000)}, &kgo.Record{Value: make([]byte, 990_000)})
	}
	p := begin(t, c.Cluster, func(cfg *Config) { cfg.Memory = fetchMemory(4 << 20) }, topic)
	ranges := p.next(source.Limits{}).Ranges
	before := liveHeap()
	var peak, records int64
	_, err := p.source.Read(t.Context(), ranges, func(b *source.Block) error {
		records += int64(len(b.Values))
		if records%16 == 0 {
			peak = max(peak, liveHeap()-before)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if records != 128 || peak > 16<<20 {
		t.Errorf("%d records of 1 MB, up to %d MB live on the heap", records, peak>>20)
	}
	t.Logf("up to %d MB live on the heap", peak>>20)
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func fetchMemory(bytes int64) *memory.Account { return memory.New(bytes).Open("fetch", bytes) }
