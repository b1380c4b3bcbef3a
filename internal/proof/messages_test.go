package proof

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/kafkatest"
)

func TestMessagesOfOneByteAndOfTenMegabytesInAllCodecsOfOneTopic(t *testing.T) {
	broker := kafkatest.Broker(t)
	topic := broker.Topic(t, 2, "max.message.bytes=16000000")
	const longest = 10_000_000
	p := &producer{}
	var ones int64
	for _, codec := range []kgo.CompressionCodec{
		kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(),
	} {
		client := broker.Client(t, manualPartitioner, kgo.ProducerBatchMaxBytes(12_000_000), kgo.ProducerBatchCompression(codec))
		one := &kgo.Record{Topic: topic, Value: []byte("1")}
		must(t, func() error {
			return client.ProduceSync(t.Context(), one, &kgo.Record{Topic: topic, Partition: 1, Value: one.Value}).FirstErr()
		})
		must(t, func() error { return p.sendLong(client, topic, 2, 2, longest) })
		ones += 2
	}
	j := newJudge(t)
	s := j.site(t, kafkaSource(broker.Cluster, topic), longColumns, "", "on_error: skip")
	s.finishSmall(t)
	var report batch.AuditReport
	must(t, func() error { return json.Unmarshal(run(t, 0, "audit", s.file, "-o", "json").stdout.Bytes(), &report) })
	if report.Bad != ones {
		t.Errorf("%d bad records, want the %d of one byte, which are no objects", report.Bad, ones)
	}
	s.checkLong(t, p, func(int64) int { return longest })
	whole := j.site(t, kafkaSource(broker.Cluster, topic), "\n  - {name: record, type: string, from: $}", "")
	whole.finishSmall(t)
	whole.checkAudit(t, ones+p.count())
	j.judge(t)
}

func TestEachOf64PartitionsWithDataProgressesInEveryBatchThoughOneHasAThousandTimesMore(t *testing.T) {
	broker := kafkatest.Broker(t)
	const partitions, few, many = 64, 3, 3000
	topic := broker.Topic(t, partitions)
	client := broker.Client(t, manualPartitioner)
	p := &producer{}
	must(t, func() error { return p.send(client, topic, partitions, few*partitions) })
	must(t, func() error { return p.send(client, topic, 1, many-few) })
	j := newJudge(t)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 128}")
	s.finish(t)
	left := map[string]int64{}
	for n := range int32(partitions) {
		_, _, left[fmt.Sprintf("%s/%d", topic, n)] = broker.Bounds(t, topic, n)
	}
	err := open(t, s.table).History(t.Context(), func(c *commitlog.Commit) error {
		record := batch.ParseRecord(c.Info.UserMetadata)
		moved := map[string]int64{}
		for _, r := range record.Ranges {
			moved[r.Partition] += r.Len()
		}
		for partition, n := range left {
			if n > 0 && moved[partition] == 0 {
				t.Errorf("batch %d: %s has %d records left, and none of them is in it", record.Batch, partition, n)
			}
			left[partition] -= moved[partition]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, p)
	j.judge(t)
}
