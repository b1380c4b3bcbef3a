package kafka

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/kafkatest"
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

// TestBoundsAreAskedForAtOnce: the broker answers none of the three questions before all of them are on their way.
func TestBoundsAreAskedForAtOnce(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 2)
	w := &written{key: int16(kmsg.ListOffsets), all: make(chan struct{})}
	w.more.Store(3)
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
	cfg := Config{Brokers: c.Addrs, Topics: []string{topic}}.withDefaults()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := newCluster(c.Client(t, kgo.WithHooks(w)), cfg).look(ctx, cfg.Topics, &patience{}); err != nil {
		t.Fatal(err)
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
