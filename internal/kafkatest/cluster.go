// Package kafkatest gives tests a Kafka to talk to: a real broker, or one faked in the process.
//
// Broker starts Apache Kafka with testdata/kafka/kafka.sh, once in a test process; OwnBroker starts one for a test alone; Fake starts a kfake cluster for one
// test. Both give a Cluster, which creates topics, produces, commits and aborts transactions, and deletes records. Every
// helper fails the test instead of returning an error.
//
// Invariants:
//
//   - A broker ends with the test process, also when that is killed: a guard process watches a pipe of it.
//   - Topic names are unique, so that tests share a broker.
package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// patience bounds every helper, each of which waits for what is sure to come, on a busy machine too.
const patience = 5 * time.Minute

var topics atomic.Int64 // numbers topic names; only ever counts up

// Cluster is a Kafka cluster that answers.
type Cluster struct {
	Addrs []string       // host:port, plain text
	Kfake *kfake.Cluster // nil for a real broker
}

// Fake starts a faked cluster that ends with the test.
func Fake(tb testing.TB, options ...kfake.Opt) *Cluster {
	tb.Helper()
	fake, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		tb.Fatalf("start a fake Kafka: %v", err)
	}
	tb.Cleanup(fake.Close)
	return &Cluster{Addrs: fake.ListenAddrs(), Kfake: fake}
}

// Client makes a client that ends with the test.
func (c *Cluster) Client(tb testing.TB, options ...kgo.Opt) *kgo.Client {
	tb.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Addrs...)}, options...)...)
	if err != nil {
		tb.Fatalf("make a Kafka client: %v", err)
	}
	tb.Cleanup(client.Close)
	return client
}

func (c *Cluster) admin(tb testing.TB) *kadm.Client {
	tb.Helper()
	return kadm.NewClient(c.Client(tb))
}

func within(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// Topic creates a topic of a fresh name; config holds "key=value".
func (c *Cluster) Topic(tb testing.TB, partitions int, config ...string) string {
	tb.Helper()
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, tb.Name())
	name := fmt.Sprintf("%.100s-%d", clean, topics.Add(1))
	c.Create(tb, name, partitions, config...)
	return name
}

// Create creates a topic, also one that was just deleted, and waits until it can be used.
func (c *Cluster) Create(tb testing.TB, name string, partitions int, config ...string) {
	tb.Helper()
	admin, ctx := c.admin(tb), within(tb)
	configs := map[string]*string{}
	for _, kv := range config {
		key, value, _ := strings.Cut(kv, "=")
		configs[key] = &value
	}
	Eventually(tb, "create topic "+name, func() error {
		_, err := admin.CreateTopic(ctx, int32(partitions), 1, configs, name)
		if errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("the old one is still there: %w", err)
		}
		return err
	})
	c.awaitPartitions(tb, name, partitions)
}

// Configure changes settings of a topic; config holds "key=value".
func (c *Cluster) Configure(tb testing.TB, name string, config ...string) {
	tb.Helper()
	var changes []kadm.AlterConfig
	for _, kv := range config {
		key, value, _ := strings.Cut(kv, "=")
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value})
	}
	resp, err := c.admin(tb).AlterTopicConfigs(within(tb), changes, name)
	if err == nil {
		_, err = resp.On(name, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		tb.Fatalf("configure topic %s: %v", name, err)
	}
}

// AddPartitions makes the topic have so many partitions.
func (c *Cluster) AddPartitions(tb testing.TB, name string, partitions int) {
	tb.Helper()
	resp, err := c.admin(tb).UpdatePartitions(within(tb), partitions, name)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		tb.Fatalf("add partitions to %s: %v", name, err)
	}
	c.awaitPartitions(tb, name, partitions)
}

func (c *Cluster) awaitPartitions(tb testing.TB, name string, partitions int) {
	tb.Helper()
	admin, ctx := c.admin(tb), within(tb)
	Eventually(tb, "find the partitions of "+name, func() error {
		offsets, err := admin.ListEndOffsets(ctx, name)
		if err == nil {
			err = offsets.Error()
		}
		if err == nil && len(offsets[name]) != partitions {
			err = fmt.Errorf("%d of %d are there", len(offsets[name]), partitions)
		}
		return err
	})
}

// Delete deletes a topic.
func (c *Cluster) Delete(tb testing.TB, name string) {
	tb.Helper()
	if _, err := c.admin(tb).DeleteTopic(within(tb), name); err != nil {
		tb.Fatalf("delete topic %s: %v", name, err)
	}
}

// DeleteRecords removes the records before offset.
func (c *Cluster) DeleteRecords(tb testing.TB, topic string, partition int32, offset int64) {
	tb.Helper()
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, partition, offset, -1)
	resp, err := c.admin(tb).DeleteRecords(within(tb), offsets)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		tb.Fatalf("delete the records of %s/%d before %d: %v", topic, partition, offset, err)
	}
}

// Bounds asks for log start, last stable offset and high watermark.
func (c *Cluster) Bounds(tb testing.TB, topic string, partition int32) (start, stable, high int64) {
	tb.Helper()
	admin, ctx := c.admin(tb), within(tb)
	ask := func(list func(context.Context, ...string) (kadm.ListedOffsets, error)) (offset int64) {
		Eventually(tb, "list offsets of "+topic, func() error {
			listed, err := list(ctx, topic)
			if err != nil {
				return err
			}
			found, ok := listed.Lookup(topic, partition)
			if !ok {
				return fmt.Errorf("partition %d is not listed", partition)
			}
			offset = found.Offset
			return found.Err
		})
		return offset
	}
	return ask(admin.ListStartOffsets), ask(admin.ListCommittedOffsets), ask(admin.ListEndOffsets)
}

// AwaitStable waits until the last stable offset is at the high watermark and not before want. A transaction's end is
// answered before its marker is written.
func (c *Cluster) AwaitStable(tb testing.TB, topic string, partition int32, want int64) {
	tb.Helper()
	Eventually(tb, "wait for the last stable offset", func() error {
		_, stable, high := c.Bounds(tb, topic, partition)
		if stable != high || stable < want {
			return fmt.Errorf("%s/%d: last stable offset %d, high watermark %d, want %d", topic, partition, stable, high, want)
		}
		return nil
	})
}

// Eventually repeats try until it succeeds, for as long as patience lasts.
func Eventually(tb testing.TB, what string, try func() error) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(pause*2, 200*time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%s: %v", what, err)
		}
		time.Sleep(pause)
	}
}
