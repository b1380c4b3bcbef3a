package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage/retry"
)

func TestBrokerThatWasNeverReachedIsAnErrorInTime(t *testing.T) {
	p := &pipeline{t: t, config: Config{Brokers: []string{"127.0.0.1:1"}, Topics: []string{"t"}, ConnectTimeout: 200 * time.Millisecond}}
	p.restart(nil)
	begun := time.Now()
	_, err := p.source.Next(t.Context(), source.Limits{})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "check brokers") {
		t.Errorf("error %v", err)
	}
	if d := time.Since(begun); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestBrokerErrorsAreWaitedFor(t *testing.T) {
	c := kafkatest.Fake(t, kfake.NumBrokers(3))
	topic := c.Topic(t, 3)
	for n := range int32(3) {
		c.Produce(t, topic, n, kafkatest.Records("v", 100)...)
	}
	for _, code := range []*kerr.Error{
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownTopicOrPartition, kerr.UnknownServerError,
		kerr.KafkaStorageError, kerr.FencedLeaderEpoch, kerr.UnknownTopicID, kerr.OffsetNotAvailable, kerr.CorruptMessage,
	} {
		t.Run(code.Message, func(t *testing.T) {
			var said notices
			p := begin(t, c, func(cfg *Config) { cfg.Outages = retry.NewOutages(said.add) }, topic)
			ranges := p.next(source.Limits{}).Ranges
			fault := c.Kfake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: code, Count: 7})
			defer fault.Remove()
			records, lost := p.read(ranges)
			if len(records) != 300 || lost != nil {
				t.Errorf("%d records, lost %v", len(records), lost)
			}
			if !strings.Contains(said.String(), code.Message) || !strings.Contains(said.String(), "works again") {
				t.Errorf("notices: %s", &said)
			}
		})
	}
}

func TestLeadersThatMoveAreFollowed(t *testing.T) {
	c := kafkatest.Fake(t, kfake.NumBrokers(3))
	topic := c.Topic(t, 8)
	for n := range int32(8) {
		c.Produce(t, topic, n, kafkatest.Records("v", 1000)...)
	}
	p := begin(t, c, nil, topic)
	total := 0
	for planned := p.next(source.Limits{MaxRecords: 800}); moves(planned.Ranges); planned = p.next(source.Limits{MaxRecords: 800}) {
		c.Kfake.ShufflePartitionLeaders()
		records, _ := p.read(planned.Ranges)
		total += len(records)
	}
	if total != 8000 {
		t.Errorf("%d records, want 8000", total)
	}
}

func TestBrokerIsKilledWhileReading(t *testing.T) {
	n := kafkatest.Broker(t)
	topic := n.Topic(t, 4)
	filler := bytes.Repeat([]byte("."), 400)
	const each = 20_000
	for partition := range int32(4) {
		records := make([]*kgo.Record, each)
		for i := range records {
			records[i] = kafkatest.Record(fmt.Sprintf("%d-%s", i, filler))
		}
		n.Produce(t, topic, partition, records...)
	}
	var said notices
	p := begin(t, n.Cluster, func(cfg *Config) {
		cfg.Outages = retry.NewOutages(said.add)
		cfg.Memory = fetchMemory(1 << 20) // so that most is still to be fetched when the broker dies
	}, topic)
	ranges := p.next(source.Limits{}).Ranges
	var restart sync.WaitGroup
	defer restart.Wait()
	next := map[string]int64{}
	blocks := 0
	lost, err := p.source.Read(t.Context(), ranges, func(b *source.Block) error {
		if blocks++; blocks == 3 {
			n.Kill(t)
			restart.Go(func() { n.Start(t) })
		}
		for i, offset := range b.Positions {
			if offset != next[b.Partition] || !strings.HasPrefix(string(b.Values[i]), fmt.Sprintf("%d-", offset)) {
				t.Fatalf("%s: offset %d (%.10s), want %d", b.Partition, offset, b.Values[i], next[b.Partition])
			}
			next[b.Partition]++
		}
		return nil
	})
	if err != nil || lost != nil {
		t.Fatalf("Read: lost %v, %v", lost, err)
	}
	for partition, n := range next {
		if n != each {
			t.Errorf("%s: %d records, want %d", partition, n, each)
		}
	}
	if len(next) != 4 || !strings.Contains(said.String(), "waiting for it") || !strings.Contains(said.String(), "works again") {
		t.Errorf("%d partitions; notices: %s", len(next), &said)
	}
	restart.Wait()
	if again := p.next(source.Limits{}); again.Ranges != nil {
		t.Errorf("after the restart: %v", again.Ranges)
	}
}

func TestReadOfABrokerThatIsAwayEndsPromptlyWhenCancelled(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	c.Produce(t, topic, 0, kafkatest.Record("v"))
	waiting := make(chan struct{})
	var once sync.Once
	p := begin(t, c, func(cfg *Config) { cfg.Outages = retry.NewOutages(func(string) { once.Do(func() { close(waiting) }) }) }, topic)
	ranges := p.next(source.Limits{}).Ranges
	c.Kfake.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waiting
		cancel()
	}()
	_, err := p.source.Read(ctx, ranges, func(*source.Block) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
