package kafka

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

// BenchmarkRead measures records per second from a real broker, 355 bytes each, on 4 partitions.
func BenchmarkRead(b *testing.B) {
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		b.Run(name, func(b *testing.B) {
			c := kafkatest.Broker(b)
			topic := c.Topic(b, 4)
			const each = 125_000
			for partition := range int32(4) {
				c.ProduceWith(b, topic, partition, []kgo.Opt{kgo.ProducerBatchCompression(codec)}, benchmarkRecords(each)...)
			}
			p := begin(b, c.Cluster, nil, topic)
			ranges := p.next(source.Limits{}).Ranges
			b.ResetTimer()
			var records, size, peak int64
			for b.Loop() {
				_, err := p.source.Read(context.Background(), ranges, func(block *source.Block) error {
					records += int64(len(block.Values))
					size += block.Bytes
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, int64(m.HeapSys))
			}
			if want := int64(b.N) * 4 * each; records != want {
				b.Fatalf("%d records, want %d", records, want)
			}
			b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(peak)/(1<<20), "heap-MB")
			b.SetBytes(size / int64(b.N))
		})
	}
}

func benchmarkRecords(n int) []*kgo.Record {
	records := make([]*kgo.Record, n)
	for i := range records {
		value := fmt.Appendf(nil, `{"id":"%08x-%d","ts":"2026-01-31T08:%02d:%02dZ","n":%d,"text":"`, i*2654435761, i, i/60%60, i%60, i*7919)
		value = append(value, bytes.Repeat([]byte("lorem ipsum "), 30)...)
		records[i] = &kgo.Record{Value: append(value[:353], `"}`...)}
	}
	return records
}
