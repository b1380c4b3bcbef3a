package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/sluicedata/sluice/internal/checkout"
)

// broker is a Kafka of the run's own, whose topics are made once.
type broker struct {
	script, data, address string
	topics                map[string]bool
}

// startBroker starts it when it is first asked for.
func (b *bench) startBroker(ctx context.Context) (*broker, error) {
	if b.broker != nil {
		return b.broker, nil
	}
	port := checkout.FreePorts(2) // the broker's, and its controller's
	k := &broker{script: filepath.Join(b.root, "testdata", "kafka", "kafka.sh"), address: fmt.Sprintf("127.0.0.1:%d", port), topics: map[string]bool{}}
	var err error
	if k.data, err = os.MkdirTemp(b.work, "kafka-"); err != nil {
		return nil, err
	}
	start := exec.CommandContext(ctx, k.script, "start", filepath.Join(b.root, ".cache", "kafka"), k.data, strconv.Itoa(port))
	if out, err := start.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a Kafka: %w; make kafka installs it\n%s", err, out), os.RemoveAll(k.data))
	}
	b.broker = k
	return k, nil
}

func (k *broker) stop() error {
	if out, err := exec.Command(k.script, "kill", k.data).CombinedOutput(); err != nil {
		return fmt.Errorf("stop the Kafka: %w\n%s", err, out)
	}
	return os.RemoveAll(k.data)
}

// topic is records in a broker, in four partitions.
type topic struct{ broker, name string }

// source is the topic as a pipeline file has it.
func (t topic) source() string {
	return fmt.Sprintf("kafka: {brokers: ['%s'], topics: [%s]}", t.broker, t.name)
}

// topic makes one of benchmark records, or finds it where an earlier row has made it.
func (b *bench) topic(ctx context.Context, records int64) (topic, error) {
	return b.namedTopic(ctx, fmt.Sprintf("events-%d", records), records)
}

func (b *bench) namedTopic(ctx context.Context, name string, records int64) (topic, error) {
	k, err := b.startBroker(ctx)
	if err != nil {
		return topic{}, err
	}
	if !k.topics[name] {
		fmt.Fprintf(os.Stderr, "make topic %s\n", name)
		if err := b.generator(ctx, "--records", strconv.FormatInt(records, 10), "--kafka", k.address, "--topic", name, "--partitions", "4"); err != nil {
			return topic{}, fmt.Errorf("make topic %s: %w", name, err)
		}
		k.topics[name] = true
	}
	return topic{k.address, name}, nil
}

// sluiceKafka is a run of the program over a topic, until all is in the table.
func (b *bench) sluiceKafka(name string, w work) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		t, err := b.topic(ctx, w.records)
		if err != nil {
			return sample{}, err
		}
		s, _, err := b.runPipeline(ctx, w, out, t.source(), "--log-level", "warn")
		return s, err
	}
	return contender{name: name, disk: w.disk, run: run}
}
