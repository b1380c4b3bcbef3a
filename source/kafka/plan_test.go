package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

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

func TestMissingTopic(t *testing.T) {
	c := kafkatest.Fake(t)
	p := begin(t, c, nil, "nowhere")
	var missing *MissingError
	if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &missing) || missing.Name != "nowhere" {
		t.Errorf("Next of a missing topic: %v", err)
	}
}

func TestPartitionAndTopicThatWereDeleted(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	p := begin(t, c, nil, topic)
	id := p.next(source.Limits{}).Ranges[0].ID
	p.plans = [][]offsetlog.Range{{{Partition: topic + "/5", ID: id, To: 3}}}
	p.restart(nil)
	var deleted *DeletedError
	if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &deleted) || deleted.Name != topic+"/5" {
		t.Errorf("Next with a partition that vanished: %v", err)
	}
	_, err := p.source.Read(t.Context(), p.plans[0], func(*source.Block) error { return nil })
	if !errors.As(err, &deleted) || deleted.Name != topic+"/5" {
		t.Errorf("Read of a partition that vanished: %v", err)
	}
	c.Delete(t, topic)
	if _, err := p.source.Next(t.Context(), source.Limits{}); !errors.As(err, &deleted) || deleted.Name != topic {
		t.Errorf("Next of a topic that was deleted: %v", err)
	}
	_, err = p.source.Read(t.Context(), []offsetlog.Range{{Partition: topic + "/0", ID: id, To: 3}}, func(*source.Block) error { return nil })
	if !errors.As(err, &deleted) || deleted.Name != topic {
		t.Errorf("Read of a topic that was deleted: %v", err)
	}
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
