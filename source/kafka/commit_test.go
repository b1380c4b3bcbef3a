package kafka

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

func TestPositionsAreCommittedForMonitoringAndNeverReadBack(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 2)
		c.Produce(t, topic, 0, kafkatest.Records("v", 5)...)
		p := begin(t, c, func(cfg *Config) { cfg.Pipeline = "orders" }, topic)
		planned := p.next(source.Limits{MaxRecords: 3})
		kafkatest.Eventually(t, "commit", func() error { // the group's coordinator is made at first, which may outlast commitTimeout
			return p.source.Committed(t.Context(), 0, planned.Ranges)
		})
		admin := kadm.NewClient(c.Client(t))
		group, err := admin.FetchOffsets(t.Context(), "sluice-orders")
		if err != nil {
			t.Fatal(err)
		}
		for partition, want := range map[int32]int64{0: 3, 1: 0} {
			if o, ok := group.Lookup(topic, partition); !ok || o.At != want {
				t.Errorf("group offset of partition %d: %v, want %d", partition, o.At, want)
			}
		}
		wrong := kadm.Offsets{}
		wrong.AddOffset(topic, 0, 5, -1)
		if err := admin.CommitAllOffsets(t.Context(), "sluice-orders", wrong); err != nil {
			t.Fatal(err)
		}
		p.restart(nil)
		expect(t, "the rest", []string{topic + "/0@3=v-3", topic + "/0@4=v-4"}, p.all(source.Limits{}))
	})
}

func TestForeignConsumerOfTheSameGroupChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 2)
		c.Produce(t, topic, 0, kafkatest.Records("v", 2000)...)
		group := "sluice-" + topic
		p := begin(t, c, func(cfg *Config) { cfg.Pipeline = topic }, topic)
		ranges := p.next(source.Limits{MaxRecords: 1000}).Ranges
		foreign := c.Client(t, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for n := 0; n < 2000; { // it has joined, and reads
			n += foreign.PollFetches(ctx).NumRecords()
			if ctx.Err() != nil {
				t.Fatal("the foreign consumer reads nothing")
			}
		}
		records, _ := p.read(ranges)
		if err := p.source.Committed(t.Context(), 0, ranges); err == nil || !strings.Contains(err.Error(), group) {
			t.Errorf("Committed beside a live member: %v, want an error that names the group", err)
		}
		records = append(records, p.all(source.Limits{})...)
		if len(records) != 2000 {
			t.Errorf("%d records, want 2000", len(records))
		}
	})
}
