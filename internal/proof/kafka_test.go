package proof

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// manualPartitioner sends records where they say.
var manualPartitioner = kgo.RecordPartitioner(kgo.ManualPartitioner())

// kafkaSource is the source of a pipeline file that reads a topic.
func kafkaSource(c *kafkatest.Cluster, topic string) string {
	return fmt.Sprintf("kafka: {brokers: [%q], topics: [%s]}", c.Addrs[0], topic)
}
