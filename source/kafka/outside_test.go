package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

func TestAllCodecs(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		codecs := map[string]kgo.CompressionCodec{
			"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
			"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
		}
		topic := c.Topic(t, 1)
		want := 0
		for name, codec := range codecs {
			c.ProduceWith(t, topic, 0, []kgo.Opt{kgo.ProducerBatchCompression(codec)}, kafkatest.Records(name, 1000)...)
			want += 1000
		}
		p := begin(t, c, nil, topic)
		if got := p.all(source.Limits{MaxRecords: 777}); len(got) != want {
			t.Errorf("%d records, want %d", len(got), want)
		}
	})
}

func TestSkewedPartitionsAllProgress(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 64)
	c.Produce(t, topic, 17, kafkatest.Records("many", 10_000)...)
	for n := range int32(64) {
		if n != 17 {
			c.Produce(t, topic, n, kafkatest.Records("few", 3)...)
		}
	}
	p := begin(t, c, nil, topic)
	planned := p.next(source.Limits{MaxRecords: 640})
	if planned.Records != 640 || !planned.More || len(planned.Ranges) != 64 {
		t.Fatalf("planned %d records, %d ranges", planned.Records, len(planned.Ranges))
	}
	for _, r := range planned.Ranges {
		if r.Len() < 3 {
			t.Errorf("%v is starved", r)
		}
	}
	first, _ := p.read(planned.Ranges)
	rest := p.all(source.Limits{MaxRecords: 640})
	if n := len(first) + len(rest); n != 10_000+63*3 {
		t.Errorf("%d records in all", n)
	}
}

func TestPositionsAreCommittedForMonitoringAndNeverReadBack(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 2)
		c.Produce(t, topic, 0, kafkatest.Records("v", 5)...)
		p := begin(t, c, func(cfg *Config) { cfg.Pipeline = "orders" }, topic)
		planned := p.next(source.Limits{MaxRecords: 3})
		if err := p.source.Committed(t.Context(), 0, planned.Ranges); err != nil {
			t.Fatal(err)
		}
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
			p := begin(t, c, func(cfg *Config) { cfg.Notice = said.add }, topic)
			ranges := p.next(source.Limits{}).Ranges
			fault := c.Kfake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: code, Count: 6})
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

func TestRefusedTopicIsAnError(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	c.Produce(t, topic, 0, kafkatest.Record("v"))
	p := begin(t, c, nil, topic)
	ranges := p.next(source.Limits{}).Ranges
	fault := c.Kfake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1})
	defer fault.Remove()
	_, err := p.source.Read(t.Context(), ranges, func(*source.Block) error { return nil })
	if !errors.Is(err, kerr.TopicAuthorizationFailed) || !strings.Contains(err.Error(), "grant") {
		t.Errorf("error %v", err)
	}
}

func TestSecureConnections(t *testing.T) {
	n := kafkatest.Broker(t)
	topic := n.Topic(t, 1)
	n.Produce(t, topic, 0, kafkatest.Record("v"))
	n.User(t, kadm.ScramSha256, "alice", "alice-secret")
	n.User(t, kadm.ScramSha512, "carol", "carol-secret")
	n.User(t, kadm.ScramSha512, "mallory", "mallory-secret")
	for _, user := range []string{"alice", "carol", kafkatest.PlainUser} {
		n.Allow(t, user, topic)
	}
	withTLS := TLS{Enabled: true, CAFile: n.CAFile}
	tests := []struct {
		name string
		tls  TLS
		sasl *SASL
		want string // part of the error; "" means that it reads
	}{
		{"PLAIN", withTLS, &SASL{Mechanism: Plain, Username: kafkatest.PlainUser, Password: kafkatest.PlainPassword}, ""},
		{"SCRAM-SHA-256", withTLS, &SASL{Mechanism: ScramSHA256, Username: "alice", Password: "alice-secret"}, ""},
		{"SCRAM-SHA-512", withTLS, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, ""},
		{"insecure, by name", TLS{Enabled: true, Insecure: true}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, ""},
		{"server name", TLS{Enabled: true, CAFile: n.CAFile, ServerName: "localhost"}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, ""},
		{"wrong server name", TLS{Enabled: true, CAFile: n.CAFile, ServerName: "elsewhere"}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, "check tls"},
		{"wrong password, PLAIN", withTLS, &SASL{Mechanism: Plain, Username: kafkatest.PlainUser, Password: "wr0ng"}, "check sasl.username, sasl.password"},
		{"wrong password, SCRAM", withTLS, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "wr0ng"}, "check sasl.username, sasl.password"},
		{"unknown user", withTLS, &SASL{Mechanism: ScramSHA256, Username: "nobody", Password: "wr0ng"}, "check sasl.username, sasl.password"},
		{"unknown authority", TLS{Enabled: true}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, "check tls.ca_file"},
		{"no SASL", withTLS, nil, "check that tls and sasl"},
		{"no TLS", TLS{}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, "check that tls and sasl"},
		{"no grant", withTLS, &SASL{Mechanism: ScramSHA512, Username: "mallory", Password: "mallory-secret"}, "grant this user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &pipeline{t: t, config: Config{Brokers: []string{n.Secure}, Topics: []string{topic}, TLS: tt.tls, SASL: tt.sasl}}
			p.restart(nil)
			if tt.want == "" {
				expect(t, "records", []string{topic + "/0@0=v"}, p.all(source.Limits{}))
				return
			}
			begun := time.Now()
			_, err := p.source.Next(t.Context(), source.Limits{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tt.sasl != nil && err != nil && strings.Contains(err.Error(), string(tt.sasl.Password)) {
				t.Errorf("the error shows the password: %v", err)
			}
			if d := time.Since(begun); d > 15*time.Second {
				t.Errorf("it took %v", d)
			}
		})
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
		cfg.Notice = said.add
		cfg.PrefetchBytes = 1 << 20 // so that most is still to be fetched when the broker dies
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
	p := begin(t, c, func(cfg *Config) { cfg.Notice = func(string) { once.Do(func() { close(waiting) }) } }, topic)
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

func TestReadWaitsForAnOpenTransactionThatWasPlannedUncommitted(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	open := c.Begin(t)
	open.Produce(t, topic, 0, kafkatest.Records("v", 2)...)
	p := begin(t, c, func(cfg *Config) { cfg.Isolation = ReadUncommitted }, topic)
	ranges := p.next(source.Limits{}).Ranges
	said := make(chan string, 10)
	p.restart(func(cfg *Config) {
		cfg.Isolation = ReadCommitted
		cfg.Notice = func(s string) { said <- s }
	})
	var records []string
	done := make(chan error, 1)
	go func() {
		_, err := p.source.Read(t.Context(), ranges, func(b *source.Block) error {
			records = append(records, describe(b)...)
			return nil
		})
		done <- err
	}()
	if s := <-said; !strings.Contains(s, "last stable offset 0, high watermark 2") {
		t.Errorf("notice %q", s)
	}
	open.Commit(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	expect(t, "records", []string{topic + "/0@0=v-0", topic + "/0@1=v-1"}, records)
	if s := <-said; !strings.Contains(s, "works again") {
		t.Errorf("notice %q", s)
	}
}

// A transaction that is open when the broker dies holds the last stable offset until its timeout, and then no longer.
func TestOpenTransactionHoldsTheEndAcrossAKill(t *testing.T) {
	n := kafkatest.Broker(t)
	topic := n.Topic(t, 1)
	open := n.Begin(t, kgo.TransactionTimeout(5*time.Second))
	open.Produce(t, topic, 0, kafkatest.Record("never committed"))
	n.Produce(t, topic, 0, kafkatest.Record("behind"))
	p := begin(t, n.Cluster, nil, topic)
	expect(t, "plan", []string{"0 [0, 0)"}, spans(p.next(source.Limits{}).Ranges))
	n.Restart(t)
	p.restart(nil)
	kafkatest.Eventually(t, "wait for the broker to abort the transaction", func() error {
		if planned := p.next(source.Limits{}); moves(planned.Ranges) {
			return nil
		}
		return errors.New("the last stable offset is still held")
	})
	records, _ := p.read(p.plans[len(p.plans)-1])
	expect(t, "records", []string{topic + "/0@1=behind"}, records)
}

func TestMemoryIsBoundedByTheBudget(t *testing.T) {
	c := kafkatest.Broker(t)
	topic := c.Topic(t, 64)
	for partition := range int32(64) {
		c.Produce(t, topic, partition, &kgo.Record{Value: make([]byte, 990_000)}, &kgo.Record{Value: make([]byte, 990_000)})
	}
	p := begin(t, c.Cluster, func(cfg *Config) { cfg.PrefetchBytes = 4 << 20 }, topic)
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
	if records != 128 || peak > 32<<20 {
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
