package kafka

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

// farOff is longer than any of the tests may take.
const farOff = time.Minute

// await calls Await, has something happen, and fails unless that is what ended the wait.
func (p *pipeline) await(happens func()) {
	p.t.Helper()
	begun, ended := time.Now(), make(chan error, 1)
	go func() { ended <- p.source.Await(p.t.Context(), farOff) }()
	happens()
	if err := <-ended; err != nil {
		p.t.Fatal(err)
	}
	if time.Since(begun) >= farOff {
		p.t.Error("it waited to the end")
	}
}

func TestWaitEndsWithTheFirstRecord(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 2)
		c.Produce(t, topic, 0, kafkatest.Record("old"))
		p := begin(t, c, nil, topic)
		p.all(source.Limits{})
		for n := range int32(2) {
			p.await(func() { c.Produce(t, topic, n, kafkatest.Record("new")) })
			if news := p.all(source.Limits{}); len(news) != 1 {
				t.Errorf("news %q, want one", news)
			}
		}
	})
}

func TestWaitEndsWithTheTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		p := begin(t, c, nil, topic)
		p.all(source.Limits{})
		tx := c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Record("in doubt"))
		if news := p.all(source.Limits{}); news != nil {
			t.Fatalf("read %q of an open transaction", news)
		}
		p.await(func() { tx.Commit(t) })
		c.AwaitStable(t, topic, 0, 2)
		expect(t, "news", []string{topic + "/0@0=in doubt"}, p.all(source.Limits{}))
	})
}

func TestFetchThatALeaderHoldsServesTheNextWait(t *testing.T) {
	c := kafkatest.Fake(t, kfake.NumBrokers(3))
	topic := c.Topic(t, 3)
	p := begin(t, c, nil, topic)
	p.next(source.Limits{})
	var held atomic.Int64
	c.Kfake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Kfake.KeepControl()
		if req.(*kmsg.FetchRequest).MaxBytes == 1 {
			held.Add(1)
		}
		return nil, nil, false
	})
	const waits = 5
	for range waits {
		p.await(func() { c.Produce(t, topic, 1, kafkatest.Record("v")) })
		if n := len(p.all(source.Limits{})); n != 1 {
			t.Errorf("%d records, want 1", n)
		}
	}
	if n := held.Load(); n > 3+waits {
		t.Errorf("%d fetches were held for %d waits at three leaders", n, waits)
	}
}

func TestWaitThatFailsIsShortAndSaysNothing(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	p := begin(t, c, nil, topic)
	p.next(source.Limits{})
	fault := c.Kfake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.NotLeaderForPartition, Count: -1})
	defer fault.Remove()
	p.await(func() {})
}

func TestWaitEndsWithItsContextAndWithTheSource(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	p := begin(t, c, nil, topic)
	p.next(source.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.source.Await(ctx, farOff); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := p.source.Await(t.Context(), time.Millisecond); err != nil {
		t.Errorf("after all of its time: %v", err)
	}
	if err := p.source.Close(); err != nil { // the leader still holds a fetch
		t.Error(err)
	}
}
