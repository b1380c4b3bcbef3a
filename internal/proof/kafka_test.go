package proof

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// manualPartitioner sends records where they say.
var manualPartitioner = kgo.RecordPartitioner(kgo.ManualPartitioner())

// kafkaSource is the source of a pipeline file that reads a topic; more are further keys.
func kafkaSource(c *kafkatest.Cluster, topic string, more ...string) string {
	keys := append([]string{fmt.Sprintf("brokers: [%q]", c.Addrs[0]), "topics: [" + topic + "]"}, more...)
	return "kafka: {" + strings.Join(keys, ", ") + "}"
}
