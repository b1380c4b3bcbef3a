package kafka

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

func skipLoss(cfg *Config) { cfg.OnDataLoss = LossSkipped }

func TestRecordsDeletedBelowThePosition(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 2)
		c.Produce(t, topic, 0, kafkatest.Records("v", 10)...)
		p := begin(t, c, nil, topic)
		p.read(p.next(source.Limits{MaxRecords: 3}).Ranges)
		c.DeleteRecords(t, topic, 0, 7)

		var lost *DataLostError
		_, err := p.source.Next(t.Context(), source.Limits{})
		if !errors.As(err, &lost) {
			t.Fatalf("Next: %v, want a *DataLostError", err)
		}
		expect(t, "gaps", []string{"0 [3, 7) lost"}, spans(lost.Gaps))
		if !strings.Contains(err.Error(), topic+"/0 [3, 7)") || !strings.Contains(err.Error(), "on_data_loss: skip") {
			t.Errorf("message %q", err)
		}
		lags, err := p.source.Lag(t.Context())
		if err != nil || !strings.Contains(lags[0].Note, "[3, 7) are lost") {
			t.Errorf("lag %+v, %v", lags, err)
		}

		p.restart(skipLoss)
		planned := p.next(source.Limits{})
		expect(t, "plan that skips", []string{"0 [3, 7) lost", "0 [7, 10)", "1 [0, 0)"}, spans(planned.Ranges))
		if planned.Records != 3 || len(planned.Notices) != 1 {
			t.Errorf("planned %+v", planned)
		}
		records, lostLater := p.read(planned.Ranges)
		expect(t, "records", []string{topic + "/0@7=v-7", topic + "/0@8=v-8", topic + "/0@9=v-9"}, records)
		if lostLater != nil {
			t.Errorf("lost while reading: %v", lostLater)
		}
		p.restart(nil)
		if again := p.next(source.Limits{}); again.Ranges != nil {
			t.Errorf("after a restart: %v", again.Ranges)
		}
	})
}

func TestAllOfAPartitionIsDeleted(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		c.Produce(t, topic, 0, kafkatest.Records("v", 5)...)
		p := begin(t, c, nil, topic)
		p.next(source.Limits{MaxRecords: 2})
		c.DeleteRecords(t, topic, 0, 5)
		p.restart(skipLoss)
		expect(t, "plan", []string{"0 [2, 5) lost", "0 [5, 5)"}, spans(p.next(source.Limits{}).Ranges))
		c.Produce(t, topic, 0, kafkatest.Record("next"))
		expect(t, "next", []string{topic + "/0@5=next"}, p.all(source.Limits{}))
	})
}

func TestRecordsDeletedBetweenPlanAndRead(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 3)
		for n := range int32(3) {
			c.Produce(t, topic, n, kafkatest.Records(fmt.Sprint("p", n), 6)...)
		}
		p := begin(t, c, nil, topic)
		ranges := p.next(source.Limits{MaxRecords: 12}).Ranges // [0, 4) each
		c.DeleteRecords(t, topic, 0, 2)                        // a part of the range
		c.DeleteRecords(t, topic, 2, 5)                        // more than the range

		var lost *DataLostError
		_, err := p.source.Read(t.Context(), ranges, func(*source.Block) error { return nil })
		if !errors.As(err, &lost) {
			t.Fatalf("Read: %v, want a *DataLostError", err)
		}
		expect(t, "gaps", []string{"0 [0, 2) lost"}, spans(lost.Gaps))

		p.restart(skipLoss)
		records, gaps := p.read(ranges)
		expect(t, "gaps", []string{"0 [0, 2) lost", "2 [0, 4) lost"}, spans(gaps))
		want := []string{topic + "/0@2=p0-2", topic + "/0@3=p0-3"}
		for i := range 4 {
			want = append(want, fmt.Sprintf("%s/1@%d=p1-%d", topic, i, i))
		}
		expect(t, "records", want, records)
		expect(t, "next plan", []string{"0 [4, 6)", "1 [4, 6)", "2 [4, 5) lost", "2 [5, 6)"}, spans(p.next(source.Limits{}).Ranges))
	})
}

func TestStartBelowTheLogIsLossToo(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	c.Produce(t, topic, 0, kafkatest.Records("v", 5)...)
	c.DeleteRecords(t, topic, 0, 3)
	p := begin(t, c, func(cfg *Config) { cfg.Start = Start{At: StartOffsets, Offsets: map[string]int64{topic + "/0": 1}} }, topic)
	var lost *DataLostError
	if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &lost) {
		t.Errorf("Next: %v", err)
	}
	p = begin(t, c, nil, topic)
	expect(t, "start earliest", []string{"0 [3, 5)"}, spans(p.next(source.Limits{}).Ranges))
}

func TestPositionBehindTheEndIsAnError(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		c.Produce(t, topic, 0, kafkatest.Records("v", 5)...)
		p := begin(t, c, skipLoss, topic)
		id := p.next(source.Limits{}).Ranges[0].ID
		beyond := []offsetlog.Range{{Partition: topic + "/0", ID: id, From: 7, To: 9}}
		var truncated *TruncatedError
		if _, err := p.source.Read(t.Context(), beyond, func(*source.Block) error { return nil }); !errors.As(err, &truncated) {
			t.Errorf("Read: %v, want a *TruncatedError", err)
		}
		across := []offsetlog.Range{{Partition: topic + "/0", ID: id, From: 3, To: 9}}
		if _, err := p.source.Read(t.Context(), across, func(*source.Block) error { return nil }); !errors.As(err, &truncated) {
			t.Errorf("Read across the end: %v, want a *TruncatedError", err)
		}
		p.plans = [][]offsetlog.Range{beyond}
		p.restart(nil)
		if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &truncated) || truncated.Position != 9 || truncated.End != 5 {
			t.Errorf("Next: %v, want a *TruncatedError", err)
		}
	})
}

func TestRecreatedTopic(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		for name, count := range map[string]int{"fewer": 2, "equal": 4, "more": 9, "none": 0} {
			t.Run(name, func(t *testing.T) {
				topic := c.Topic(t, 3)
				c.Produce(t, topic, 0, kafkatest.Records("old", 4)...)
				c.Produce(t, topic, 2, kafkatest.Records("old", 4)...)
				p := begin(t, c, nil, topic)
				if n := len(p.all(source.Limits{})); n != 8 {
					t.Fatalf("%d records, want 8", n)
				}
				c.Delete(t, topic)
				c.Create(t, topic, 2)
				c.Produce(t, topic, 0, kafkatest.Records("new", count)...)

				var recreated *RecreatedError
				_, err := p.source.Next(t.Context(), source.Limits{})
				if !errors.As(err, &recreated) {
					t.Fatalf("Next: %v, want a *RecreatedError", err)
				}
				if recreated.Topic != topic || recreated.Known != p.plans[0][0].ID || recreated.Found == recreated.Known ||
					!strings.Contains(err.Error(), "--topic-recreated from-earliest") {
					t.Errorf("error %+v: %v", recreated, err)
				}

				p.restart(func(cfg *Config) { cfg.TopicRecreated = RecreatedFromEarliest })
				planned := p.next(source.Limits{})
				expect(t, "plan", []string{fmt.Sprintf("0 [0, %d)", count), "1 [0, 0)"}, spans(planned.Ranges))
				if planned.Ranges[0].ID != recreated.Found || len(planned.Notices) != 1 {
					t.Errorf("planned %+v", planned)
				}
				if records, _ := p.read(planned.Ranges); len(records) != count {
					t.Errorf("records %v", records)
				}
				p.restart(func(cfg *Config) { cfg.TopicRecreated = "" }) // the plans now name the new topic
				c.AddPartitions(t, topic, 3)
				c.Produce(t, topic, 2, kafkatest.Record("third"))
				expect(t, "later", []string{topic + "/2@0=third"}, p.all(source.Limits{}))
			})
		}
	})
}

func TestTopicRecreatedBetweenPlanAndRead(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		c.Produce(t, topic, 0, kafkatest.Records("old", 4)...)
		p := begin(t, c, nil, topic)
		ranges := p.next(source.Limits{}).Ranges
		c.Delete(t, topic)
		c.Create(t, topic, 1)
		c.Produce(t, topic, 0, kafkatest.Records("new", 4)...)
		var recreated *RecreatedError
		_, err := p.source.Read(t.Context(), ranges, func(b *source.Block) error {
			t.Errorf("records of the new topic: %v", describe(b))
			return nil
		})
		if !errors.As(err, &recreated) {
			t.Fatalf("Read: %v, want a *RecreatedError", err)
		}
		p.restart(func(cfg *Config) { cfg.TopicRecreated = RecreatedFromEarliest })
		records, lost := p.read(ranges)
		if records != nil || len(lost) != 1 || lost[0].ID != ranges[0].ID {
			t.Errorf("records %v, lost %+v", records, lost)
		}
		expect(t, "lost", []string{"0 [0, 4) lost"}, spans(lost))
		if n := len(p.all(source.Limits{})); n != 4 {
			t.Errorf("%d records of the new topic, want 4", n)
		}
	})
}

func TestRetentionDeletesTheHeadBetweenPlanAndRead(t *testing.T) {
	onReal(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		p := begin(t, c, skipLoss, topic)
		old := &kgo.Record{Value: []byte("old")}
		c.Produce(t, topic, 0, old, kafkatest.Record("same age"))
		ranges := p.next(source.Limits{}).Ranges
		expect(t, "plan", []string{"0 [0, 2)"}, spans(ranges))
		c.Configure(t, topic, "retention.ms=1")
		kafkatest.Eventually(t, "wait for retention", func() error {
			if start, _, _ := c.Bounds(t, topic, 0); start != 2 {
				return fmt.Errorf("the log starts at %d", start)
			}
			return nil
		})
		records, lost := p.read(ranges)
		if records != nil {
			t.Errorf("records %v", records)
		}
		expect(t, "lost", []string{"0 [0, 2) lost"}, spans(lost))
	})
}

func TestCompactedGapsAndTombstones(t *testing.T) {
	onReal(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1, "cleanup.policy=compact", "segment.ms=500", "min.cleanable.dirty.ratio=0.001",
			"max.compaction.lag.ms=1000", "delete.retention.ms=600000")
		key := func(k, v string) *kgo.Record { return &kgo.Record{Key: []byte(k), Value: []byte(v)} }
		c.Produce(t, topic, 0, key("a", "1"), key("b", "1"), key("a", "2"), &kgo.Record{Key: []byte("b")}, key("c", "1"))
		p := begin(t, c, nil, topic)
		planned := p.next(source.Limits{})
		kafkatest.Eventually(t, "wait for compaction", func() error {
			c.Produce(t, topic, 0, key("later", "x")) // rolls the segment, so that it can be compacted
			records, _ := p.read(planned.Ranges)
			if len(records) != 3 {
				return fmt.Errorf("still there: %v", records)
			}
			return nil
		})
		records, lost := p.read(planned.Ranges)
		expect(t, "records", []string{topic + "/0@2=2", topic + "/0@3=null", topic + "/0@4=1"}, records)
		if lost != nil {
			t.Errorf("compacted offsets count as lost: %v", lost)
		}
		p.plans = nil
		p.restart(nil)
		p.next(source.Limits{MaxRecords: 1})
		records, _ = p.read(p.plans[0])
		expect(t, "a range that is a gap", []string(nil), records)
	})
}
