package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// onBoth runs a test against a faked broker and the real one.
func onBoth(t *testing.T, test func(t *testing.T, c *kafkatest.Cluster)) {
	t.Helper()
	t.Run("kfake", func(t *testing.T) { test(t, kafkatest.Fake(t)) })
	t.Run("kafka", func(t *testing.T) { test(t, kafkatest.Broker(t).Cluster) })
}

// onReal runs a test against the real broker alone, where kfake is known to differ.
func onReal(t *testing.T, test func(t *testing.T, c *kafkatest.Cluster)) {
	t.Helper()
	test(t, kafkatest.Broker(t).Cluster)
}

// notices collects what Config.Notice gets.
type notices struct {
	mu   sync.Mutex
	list []string
}

func (n *notices) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
}

func (n *notices) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, "\n")
}

// pipeline is a source together with the plans that were recorded, as the engine would keep them.
type pipeline struct {
	t      testing.TB
	config Config
	source *Source
	plans  [][]offsetlog.Range
}

// begin makes a pipeline without a past.
func begin(t testing.TB, c *kafkatest.Cluster, change func(*Config), topics ...string) *pipeline {
	t.Helper()
	p := &pipeline{t: t, config: Config{Brokers: c.Addrs, Topics: topics}}
	if change != nil {
		change(&p.config)
	}
	p.restart(nil)
	return p
}

// restart makes a new source with the recorded plans as history.
func (p *pipeline) restart(change func(*Config)) {
	p.t.Helper()
	if change != nil {
		change(&p.config)
	}
	if err := p.tryRestart(); err != nil {
		p.t.Fatalf("Restore: %v", err)
	}
}

func (p *pipeline) tryRestart() error {
	p.t.Helper()
	s, err := New(p.config)
	if err != nil {
		p.t.Fatalf("New: %v", err)
	}
	p.t.Cleanup(func() { _ = s.Close() })
	p.source = s
	return s.Restore(p.t.Context(), source.History{
		First: len(p.plans) == 0,
		Batches: func(fn func(int64, []offsetlog.Range) error) error {
			for i, ranges := range p.plans {
				if err := fn(int64(i), ranges); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// next plans a batch and records it.
func (p *pipeline) next(limits source.Limits) source.Planned {
	p.t.Helper()
	planned, err := p.source.Next(p.t.Context(), limits)
	if err != nil {
		p.t.Fatalf("Next: %v", err)
	}
	if len(planned.Ranges) > 0 {
		p.source.Advance(int64(len(p.plans)), planned.Ranges)
		p.plans = append(p.plans, planned.Ranges)
	}
	return planned
}

// read reads ranges, as "topic/0@5=value".
func (p *pipeline) read(ranges []offsetlog.Range) (records []string, lost []offsetlog.Range) {
	p.t.Helper()
	lost, err := p.source.Read(p.t.Context(), ranges, func(b *source.Block) error {
		records = append(records, describe(b)...)
		return nil
	})
	if err != nil {
		p.t.Fatalf("Read %v: %v", ranges, err)
	}
	return records, lost
}

// all plans and reads until nothing is new.
func (p *pipeline) all(limits source.Limits) []string {
	p.t.Helper()
	var records []string
	for {
		planned := p.next(limits)
		if !moves(planned.Ranges) {
			return records
		}
		got, _ := p.read(planned.Ranges)
		records = append(records, got...)
	}
}

func moves(ranges []offsetlog.Range) bool {
	return slices.ContainsFunc(ranges, func(r offsetlog.Range) bool { return r.Len() > 0 })
}

func describe(b *source.Block) []string {
	var records []string
	for i, v := range b.Values {
		text := "null"
		if v != nil {
			text = fmt.Sprintf("%.60s", v)
		}
		records = append(records, fmt.Sprintf("%s@%d=%s", b.Partition, b.Positions[i], text))
	}
	return records
}

func spans(ranges []offsetlog.Range) []string {
	var out []string
	for _, r := range ranges {
		_, number, _ := strings.Cut(r.String(), "/")
		out = append(out, number)
	}
	return out
}

func expect(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestEveryPartitionHasARangeInEveryPlan(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 3)
		c.Produce(t, topic, 1, kafkatest.Records("v", 2)...)
		p := begin(t, c, nil, topic)
		planned := p.next(source.Limits{})
		expect(t, "first plan", []string{"0 [0, 0)", "1 [0, 2)", "2 [0, 0)"}, spans(planned.Ranges))
		for _, r := range planned.Ranges {
			if len(r.ID) != 22 {
				t.Errorf("range %v has topic id %q", r, r.ID)
			}
		}
		records, _ := p.read(planned.Ranges)
		expect(t, "records", []string{topic + "/1@0=v-0", topic + "/1@1=v-1"}, records)
		if again := p.next(source.Limits{}); again.Ranges != nil {
			t.Errorf("a plan without news: %v", again.Ranges)
		}
		c.Produce(t, topic, 2, kafkatest.Record("w"))
		expect(t, "second plan", []string{"0 [0, 0)", "1 [2, 2)", "2 [0, 1)"}, spans(p.next(source.Limits{}).Ranges))
		p.restart(nil)
		if again := p.next(source.Limits{}); again.Ranges != nil {
			t.Errorf("a plan without news after a restart: %v", again.Ranges)
		}
	})
}

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

func TestTransactionsUnderBothIsolationLevels(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		tx := c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("aborted", 2)...)
		tx.Abort(t)
		tx = c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("committed", 2)...)
		tx.Commit(t)
		c.AwaitStable(t, topic, 0, 6) // 0-1 aborted, 2 marker, 3-4 committed, 5 marker
		open := c.Begin(t)
		open.Produce(t, topic, 0, kafkatest.Records("open", 1)...)
		c.Produce(t, topic, 0, kafkatest.Record("behind"))

		p := begin(t, c, nil, topic)
		begun := time.Now()
		committed := p.all(source.Limits{})
		expect(t, "read_committed", []string{topic + "/0@3=committed-0", topic + "/0@4=committed-1"}, committed)
		expect(t, "its range", []string{"0 [0, 6)"}, spans(p.plans[0]))
		if d := time.Since(begun); d > 2*time.Second {
			t.Errorf("an available-now reading took %v", d)
		}
		checkOpenTransactionIsSeen(t, c, p, topic)

		u := begin(t, c, func(cfg *Config) { cfg.Isolation = ReadUncommitted }, topic)
		if got := u.all(source.Limits{}); len(got) != 7 {
			t.Errorf("read_uncommitted: %d records, want 7: %v", len(got), got)
		}
		expect(t, "its range", []string{"0 [0, 9)"}, spans(u.plans[0]))

		// A position behind the last stable offset, since the isolation was changed, waits and is no error.
		u.restart(func(cfg *Config) { cfg.Isolation = ReadCommitted })
		if got := u.all(source.Limits{}); got != nil {
			t.Errorf("records behind an open transaction: %v", got)
		}

		open.Commit(t)
		c.AwaitStable(t, topic, 0, 10)
		want := []string{topic + "/0@6=open-0", topic + "/0@7=behind", topic + "/0@8=more behind"}
		expect(t, "after the commit", want, p.all(source.Limits{}))
	})
}

func checkOpenTransactionIsSeen(t *testing.T, c *kafkatest.Cluster, p *pipeline, topic string) {
	t.Helper()
	lags, err := p.source.Lag(t.Context())
	if err != nil || len(lags) != 1 || lags[0].Position != 6 || lags[0].End != 6 {
		t.Fatalf("lag %+v, %v", lags, err)
	}
	if want := "open transaction holds the last stable offset at 6"; !strings.Contains(lags[0].Note, want) {
		t.Errorf("note %q, want %q", lags[0].Note, want)
	}
	c.Produce(t, topic, 0, kafkatest.Record("more behind"))
	p.next(source.Limits{})
	lags, err = p.source.Lag(t.Context())
	if err != nil || !strings.Contains(lags[0].Note, "6 does not move while the high watermark grows (now 9)") {
		t.Errorf("lag of a stuck last stable offset: %+v, %v", lags, err)
	}
}

func TestOnlyAbortedRecordsEndAtOnceAndAreRead(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		tx := c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("aborted", 1000)...)
		tx.Abort(t)
		c.AwaitStable(t, topic, 0, 1001)
		p := begin(t, c, nil, topic)
		for _, limit := range []int64{1, 300, 0} { // also ends within the transaction
			planned := p.next(source.Limits{MaxRecords: limit})
			if records, lost := p.read(planned.Ranges); records != nil || lost != nil {
				t.Errorf("read %v: %v, lost %v", planned.Ranges, records, lost)
			}
		}
		expect(t, "last range", []string{"0 [301, 1001)"}, spans(p.plans[2]))
	})
}

// An aborted record, then a marker, is all that the range holds: no client delivers anything for it.
func TestRangeThatEndsBeforeAMarker(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		a, b := c.Begin(t), c.Begin(t)
		a.Produce(t, topic, 0, kafkatest.Record("a"))
		b.Produce(t, topic, 0, kafkatest.Record("b"))
		a.Abort(t)
		kafkatest.Eventually(t, "wait for the marker", func() error {
			if _, stable, high := c.Bounds(t, topic, 0); stable != 1 || high != 3 {
				return fmt.Errorf("last stable offset %d, high watermark %d", stable, high)
			}
			return nil
		})
		p := begin(t, c, nil, topic)
		if got := p.all(source.Limits{}); got != nil {
			t.Errorf("records: %v", got)
		}
		expect(t, "plan", []string{"0 [0, 1)"}, spans(p.plans[0]))
		b.Commit(t)
		c.AwaitStable(t, topic, 0, 4)
		expect(t, "then", []string{topic + "/0@1=b"}, p.all(source.Limits{}))
	})
}

func TestStart(t *testing.T) {
	at := func(p, offset int64) *kgo.Record {
		return &kgo.Record{Value: []byte(fmt.Sprint(offset)), Timestamp: time.UnixMilli(1_700_000_000_000 + p*1000 + offset)}
	}
	setup := func(t *testing.T, c *kafkatest.Cluster) string {
		topic := c.Topic(t, 3, "retention.ms=-1") // partition 2 is empty
		for offset := range int64(5) {
			c.Produce(t, topic, 0, at(0, offset))
			c.Produce(t, topic, 1, at(1, offset))
		}
		return topic
	}
	tests := []struct {
		name  string
		start func(topic string) Start
		want  []string // of the first plan
	}{
		{"default", func(string) Start { return Start{} }, []string{"0 [0, 5)", "1 [0, 5)", "2 [0, 0)"}},
		{"earliest", func(string) Start { return Start{At: StartEarliest} }, []string{"0 [0, 5)", "1 [0, 5)", "2 [0, 0)"}},
		{"latest", func(string) Start { return Start{At: StartLatest} }, []string{"0 [5, 5)", "1 [5, 5)", "2 [0, 0)"}},
		{"offsets", func(topic string) Start {
			return Start{At: StartOffsets, Offsets: map[string]int64{topic + "/0": 4, topic + "/1": 5}}
		}, []string{"0 [4, 5)", "1 [5, 5)", "2 [0, 0)"}},
		{"offsets of some", func(topic string) Start {
			return Start{At: StartOffsets, Offsets: map[string]int64{topic + "/0": 1}}
		}, []string{"0 [1, 5)", "1 [0, 5)", "2 [0, 0)"}},
		{"time between records", func(string) Start {
			return Start{At: StartTime, Time: time.UnixMilli(1_700_000_000_000 + 3).Add(time.Microsecond)}
		}, []string{"0 [4, 5)", "1 [0, 5)", "2 [0, 0)"}},
		{"time of a record", func(string) Start {
			return Start{At: StartTime, Time: time.UnixMilli(1_700_000_000_000 + 1002)}
		}, []string{"0 [5, 5)", "1 [2, 5)", "2 [0, 0)"}},
		{"time in the future", func(string) Start {
			return Start{At: StartTime, Time: time.Now().Add(time.Hour)}
		}, []string{"0 [5, 5)", "1 [5, 5)", "2 [0, 0)"}},
	}
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := setup(t, c)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := begin(t, c, func(cfg *Config) { cfg.Start = tt.start(topic) }, topic)
				planned := p.next(source.Limits{})
				expect(t, "first plan", tt.want, spans(planned.Ranges))
				records, _ := p.read(planned.Ranges)
				if int64(len(records)) != planned.Records {
					t.Errorf("%d records, %d planned", len(records), planned.Records)
				}
				if again := p.next(source.Limits{}); again.Ranges != nil {
					t.Errorf("the start counted twice: %v", again.Ranges)
				}
			})
		}
		for name, offset := range map[string]int64{topic + "/0": 6, topic + "/9": 0} {
			p := &pipeline{t: t, config: Config{Brokers: c.Addrs, Topics: []string{topic}, Start: Start{At: StartOffsets, Offsets: map[string]int64{name: offset}}}}
			if err := p.tryRestart(); err == nil {
				t.Errorf("start %s at %d: no error", name, offset)
			}
		}
	})
}

func TestNewPartitionsAreReadFromTheirBeginningAlsoWithStartLatest(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		c.Produce(t, topic, 0, kafkatest.Record("old"))
		p := begin(t, c, func(cfg *Config) { cfg.Start.At = StartLatest }, topic)
		expect(t, "the first plan pins the start", []string{"0 [1, 1)"}, spans(p.next(source.Limits{}).Ranges))
		c.AddPartitions(t, topic, 3)
		c.Produce(t, topic, 2, kafkatest.Records("new", 2)...)
		c.Produce(t, topic, 0, kafkatest.Record("next"))
		planned := p.next(source.Limits{})
		expect(t, "plan", []string{"0 [1, 2)", "1 [0, 0)", "2 [0, 2)"}, spans(planned.Ranges))
		if !strings.Contains(strings.Join(planned.Notices, "\n"), topic+"/2 is new") {
			t.Errorf("notices %q", planned.Notices)
		}
		records, _ := p.read(planned.Ranges)
		expect(t, "records", []string{topic + "/0@1=next", topic + "/2@0=new-0", topic + "/2@1=new-1"}, records)
	})
}

func TestTopicsThatAreLeftOutKeepTheirPositions(t *testing.T) {
	c := kafkatest.Fake(t)
	a, b := c.Topic(t, 1), c.Topic(t, 1)
	for _, topic := range []string{a, b} {
		c.Produce(t, topic, 0, kafkatest.Records("one", 2)...)
	}
	p := begin(t, c, nil, a, b)
	if n := len(p.all(source.Limits{})); n != 4 {
		t.Fatalf("%d records, want 4", n)
	}
	p.restart(func(cfg *Config) { cfg.Topics = []string{a} })
	c.Produce(t, a, 0, kafkatest.Record("two"))
	c.Produce(t, b, 0, kafkatest.Record("two"))
	expect(t, "one topic", []string{a + "/0@2=two"}, p.all(source.Limits{}))
	p.plans = p.plans[len(p.plans)-1:] // older ones are pruned
	p.restart(func(cfg *Config) { cfg.Topics = []string{a, b} })
	expect(t, "both again", []string{b + "/0@2=two"}, p.all(source.Limits{}))
}

func TestMissingTopicAndPartition(t *testing.T) {
	c := kafkatest.Fake(t)
	p := begin(t, c, nil, "nowhere")
	var missing *MissingError
	if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &missing) || missing.Name != "nowhere" {
		t.Errorf("Next of a missing topic: %v", err)
	}
	topic := c.Topic(t, 1)
	p = begin(t, c, nil, topic)
	id := p.next(source.Limits{}).Ranges[0].ID
	p.plans = [][]offsetlog.Range{{{Partition: topic + "/5", ID: id, To: 3}}}
	p.restart(nil)
	if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &missing) || missing.Name != topic+"/5" {
		t.Errorf("Next with a partition that vanished: %v", err)
	}
	_, err := p.source.Read(t.Context(), p.plans[0], func(*source.Block) error { return nil })
	if !errors.As(err, &missing) {
		t.Errorf("Read of a partition that vanished: %v", err)
	}
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
			cfg.FetchMaxBytes, cfg.FetchMaxPartitionBytes, cfg.PrefetchBytes = 100_000, 10_000, 1 // all smaller than a record
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
		p := begin(t, c, func(cfg *Config) { cfg.PrefetchBytes = 1 << 16 }, topic)
		ranges := p.next(source.Limits{}).Ranges
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
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
		if d := time.Since(begun); d > 2*time.Second {
			t.Errorf("ending took %v", d)
		}
	})
}

func TestSampleIsSpreadOverPartitions(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 3)
		tx := c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("aborted", 50)...)
		tx.Abort(t)
		c.AwaitStable(t, topic, 0, 51)
		c.Produce(t, topic, 0, kafkatest.Records("zero", 10)...)
		c.Produce(t, topic, 2, kafkatest.Records("two", 10)...)
		for n, want := range map[int]int{0: 0, 7: 7, 1000: 20} {
			blocks, err := Sample(t.Context(), Config{Brokers: c.Addrs, Topics: []string{topic}}, n)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, b := range blocks {
				got += len(describe(b))
			}
			if got != want {
				t.Errorf("Sample of %d: %d records, want %d", n, got, want)
			}
		}
	})
}

func TestBoundStopsAtWhatIsThere(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 2)
	c.Produce(t, topic, 0, kafkatest.Records("v", 3)...)
	p := begin(t, c, nil, topic)
	if err := p.source.Bound(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Produce(t, topic, 0, kafkatest.Records("later", 3)...)
	c.AddPartitions(t, topic, 3)
	c.Produce(t, topic, 2, kafkatest.Records("later", 3)...)
	if got := p.all(source.Limits{MaxRecords: 2}); len(got) != 3 {
		t.Errorf("records %v, want the first three", got)
	}
	p.restart(nil)
	if got := p.all(source.Limits{}); len(got) != 6 {
		t.Errorf("records %v, want all others", got)
	}
}
