package kafka

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

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
