package kafka

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

// written closes a channel once so many requests have been sent.
type written struct {
	key  int16
	more atomic.Int64
	all  chan struct{}
}

var _ kgo.HookBrokerWrite = (*written)(nil)

func (w *written) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if key == w.key && err == nil && w.more.Add(-1) == 0 {
		close(w.all)
	}
}

// holdBack has the broker answer no request of a kind before so many of them are on their way from a client with the hook.
func holdBack(t *testing.T, c *kafkatest.Cluster, key kmsg.Key, requests int64) kgo.Hook {
	t.Helper()
	w := &written{key: int16(key), all: make(chan struct{})}
	w.more.Store(requests)
	c.Kfake.ControlKey(w.key, func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Kfake.KeepControl()
		c.Kfake.SleepControl(func() {
			select {
			case <-w.all:
			case <-t.Context().Done():
			}
		})
		return nil, nil, false
	})
	return w
}

func TestBoundsAreAskedForAtOnce(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 2)
	client := c.Client(t, kgo.WithHooks(holdBack(t, c, kmsg.ListOffsets, 3)))
	cfg := Config{Brokers: c.Addrs, Topics: []string{topic}}.withDefaults()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := newCluster(client, cfg).look(ctx, cfg.Topics, &patience{}); err != nil {
		t.Fatal(err)
	}
}

func TestSizesOfPartitionsAreProbedAtOnce(t *testing.T) {
	const partitions = 4
	c := kafkatest.Fake(t)
	topic := c.Topic(t, partitions)
	for n := range int32(partitions) {
		c.Produce(t, topic, n, kafkatest.Records("v", 10)...)
	}
	s := begin(t, c, nil, topic).source
	s.cluster.client = c.Client(t, kgo.WithHooks(holdBack(t, c, kmsg.Fetch, partitions)))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Next(ctx, source.Limits{MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for n := range int32(partitions) {
		if _, known := s.sizes.of(partition{topic, n}); !known {
			t.Errorf("no size of partition %d", n)
		}
	}
}

func TestRunThatBeginsLooksOnce(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	c.Produce(t, topic, 0, kafkatest.Records("v", 3)...)
	var asked atomic.Int64
	c.Kfake.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Kfake.KeepControl()
		asked.Add(1)
		return nil, nil, false
	})
	p := begin(t, c, nil, topic)
	if err := p.source.Bound(t.Context()); err != nil {
		t.Fatal(err)
	}
	for look := range int64(2) {
		planned, err := p.source.Next(t.Context(), source.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if planned.Records != 3 || asked.Load() != 3*(look+1) {
			t.Errorf("look %d: %d records, after %d questions for offsets", look, planned.Records, asked.Load())
		}
	}
}

func TestBoundsOfDifferentTimesDoNotCross(t *testing.T) {
	for _, c := range []struct {
		name                string
		start, stable, high int64
		want                bounds
	}{
		{"of one time", 1, 2, 3, bounds{1, 2, 3}},
		{"the log's start was moved meanwhile", 9, 5, 6, bounds{9, 9, 9}},
		{"a transaction has ended meanwhile", 0, 8, 6, bounds{0, 8, 8}},
		{"the start has passed the last stable offset", 4, 3, 7, bounds{4, 4, 7}},
	} {
		if got := ordered(c.start, c.stable, c.high); got != c.want {
			t.Errorf("%s: %+v instead of %+v", c.name, got, c.want)
		}
	}
}
