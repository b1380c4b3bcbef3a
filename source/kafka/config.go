package kafka

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/storage/retry"
)

// Config is the settings of a Source. Only Brokers and Topics have to be set.
type Config struct {
	Brokers []string // host:port of some brokers of the cluster
	Topics  []string // read together as one source

	Start      Start      // where a pipeline's first plan begins; default earliest
	Isolation  Isolation  // default read_committed
	OnDataLoss OnDataLoss // default fail
	// TopicRecreated says what to do about a topic that was deleted and created again; default fail.
	TopicRecreated TopicRecreated

	TLS      TLS
	SASL     *SASL // nil: no authentication
	ClientID string
	// Pipeline is the pipeline's name, of which the default GroupID and ClientID are made.
	Pipeline string
	// GroupID is the consumer group to which Committed commits, for monitoring tools; default "sluice-" and the
	// pipeline's name. Without both, nothing is committed.
	GroupID string

	FetchMaxBytes          int32         // of one fetch response, default 8 MB
	FetchMaxPartitionBytes int32         // of one partition in a response, default 1 MB; a larger batch is still fetched
	ConnectTimeout         time.Duration // how long the first contact may take, default 30 s; later ones are waited for

	// Memory is what records that wait to be emitted are counted in, and its share their bound; nil is one of 32 MB of the
	// source's own.
	Memory *memory.Account

	// Outages is told while a call goes on that a broker does not answer, from the second failure on, and that it is back.
	Outages *retry.Outages
	// Failed, if set, is told of each error after which a request is made again. It is called from several goroutines.
	Failed func(err error)
}

// ownMemory is that of a source which is given none, in bytes.
const ownMemory = 32 << 20

// Isolation says which records of transactions are read.
type Isolation string

// The isolation levels, as Kafka names them.
const (
	ReadCommitted   Isolation = "read_committed"
	ReadUncommitted Isolation = "read_uncommitted"
)

// OnDataLoss says what to do when the broker no longer has offsets that were to be read.
type OnDataLoss string

// The ways to treat lost offsets.
const (
	LossFails   OnDataLoss = "fail"
	LossSkipped OnDataLoss = "skip"
)

// TopicRecreated says what to do when a topic has another id than the one that was read.
type TopicRecreated string

// The ways to treat a topic that was created again.
const (
	RecreatedFails        TopicRecreated = "fail"
	RecreatedFromEarliest TopicRecreated = "from-earliest"
)

// Fault is one wrong setting.
type Fault struct {
	Key    string // as in the pipeline file, below kafka: "sasl.mechanism"
	Reason string // what is wrong, and what to write instead; never a secret
}

// ConfigError lists all faults of a Config.
type ConfigError struct{ Faults []Fault }

func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Key + ": " + f.Reason
	}
	return "check the Kafka source's settings: " + strings.Join(lines, "; ")
}

type faults []Fault

func (f *faults) add(key, reason string, args ...any) {
	*f = append(*f, Fault{Key: key, Reason: fmt.Sprintf(reason, args...)})
}

// Validate says all that is wrong with the settings, as a *ConfigError.
func (c Config) Validate() error {
	_, err := c.options()
	return err
}

// options checks the settings and turns them into those of the client.
func (c Config) options() ([]kgo.Opt, error) {
	var found faults
	c.checkNames(&found)
	c.checkChoices(&found)
	c.checkLimits(&found)
	c.Start.check(c.Topics, &found)
	tlsConfig := c.TLS.config(&found)
	mechanism := c.SASL.mechanism(c.TLS.Enabled, &found)
	if len(found) > 0 {
		return nil, &ConfigError{Faults: found}
	}
	c = c.withDefaults()
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID(c.ClientID),
		kgo.RequestRetries(1), // the source retries, where it can say so
		kgo.RetryTimeout(5 * time.Second),
		kgo.DialTimeout(5 * time.Second),
		kgo.MetadataMinAge(100 * time.Millisecond),
		// One fetch response and its framing; the client's own bound of 100 MB is for produce.
		kgo.BrokerMaxReadBytes(max(c.FetchMaxBytes*2, 100<<20)),
	}
	if tlsConfig != nil {
		options = append(options, kgo.DialTLSConfig(tlsConfig))
	}
	if mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	return options, nil
}

func (c Config) checkNames(found *faults) {
	if len(c.Brokers) == 0 {
		found.add("brokers", "none is named; write at least one host:port")
	}
	for _, b := range c.Brokers {
		if strings.TrimSpace(b) == "" || strings.Contains(b, "://") || strings.ContainsAny(b, ", ") {
			found.add("brokers", "%q is not host:port", b)
		}
	}
	if len(c.Topics) == 0 {
		found.add("topics", "none is named")
	}
	for i, t := range c.Topics {
		if !legalTopic(t) {
			found.add("topics", "%q is not a legal topic name (1-249 of a-z, A-Z, 0-9, '.', '_', '-')", t)
		}
		if slices.Contains(c.Topics[:i], t) {
			found.add("topics", "%q is named twice", t)
		}
	}
}

func (c Config) checkChoices(found *faults) {
	choice(found, "isolation", c.Isolation, ReadCommitted, ReadUncommitted)
	choice(found, "on_data_loss", c.OnDataLoss, LossFails, LossSkipped)
	choice(found, "topic_recreated", c.TopicRecreated, RecreatedFails, RecreatedFromEarliest)
}

// choice checks that got is one of the known values, or empty.
func choice[T ~string](found *faults, key string, got T, known ...T) {
	if got == "" || slices.Contains(known, got) {
		return
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	found.add(key, "%q is not known; write %s", string(got), strings.Join(names, " or "))
}

func (c Config) checkLimits(found *faults) {
	if c.FetchMaxBytes < 0 || c.FetchMaxBytes > 1<<29 {
		found.add("fetch_max_bytes", "%d is not between 0 and %d", c.FetchMaxBytes, 1<<29)
	}
	if c.FetchMaxPartitionBytes < 0 || c.FetchMaxPartitionBytes > 1<<29 {
		found.add("fetch_max_partition_bytes", "%d is not between 0 and %d", c.FetchMaxPartitionBytes, 1<<29)
	}
	if c.ConnectTimeout < 0 {
		found.add("connect_timeout", "%s is negative", c.ConnectTimeout)
	}
}

func (c Config) withDefaults() Config {
	name := "sluice"
	if c.Pipeline != "" {
		name = "sluice-" + c.Pipeline
	}
	if c.ClientID == "" {
		c.ClientID = name
	}
	if c.GroupID == "" && c.Pipeline != "" {
		c.GroupID = name
	}
	if c.Isolation == "" {
		c.Isolation = ReadCommitted
	}
	if c.OnDataLoss == "" {
		c.OnDataLoss = LossFails
	}
	if c.TopicRecreated == "" {
		c.TopicRecreated = RecreatedFails
	}
	if c.FetchMaxBytes == 0 {
		c.FetchMaxBytes = 8 << 20
	}
	if c.FetchMaxPartitionBytes == 0 {
		c.FetchMaxPartitionBytes = 1 << 20
	}
	if c.Memory == nil {
		c.Memory = memory.New(ownMemory).Open("fetch", ownMemory)
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 30 * time.Second
	}
	return c
}

// address names the cluster in messages.
func (c Config) address() string { return strings.Join(c.Brokers, ",") }

// wire is the isolation level as requests carry it.
func (level Isolation) wire() int8 {
	if level == ReadUncommitted {
		return 0
	}
	return 1
}

// legalTopic follows org.apache.kafka.common.internals.Topic.
func legalTopic(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && r != '.' && r != '_' && r != '-'
	})
}
