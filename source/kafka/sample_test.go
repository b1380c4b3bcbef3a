package kafka

import (
	"testing"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

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
