package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Topic is where Produce writes.
type Topic struct {
	Brokers    []string
	Name       string
	Partitions int32 // of the topic, which is made when it is missing; record i goes to partition i modulo this
}

// maxBuffered bounds the records in flight, and so the memory.
const maxBuffered = 50_000

// Produce writes the next records to a topic with an idempotent producer, so that each is there once and in order
// within its partition. It returns when the brokers have acknowledged all of them, or with the first error.
func Produce(ctx context.Context, g *Generator, t Topic, l Landing) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(t.Brokers...),
		kgo.DefaultProduceTopic(t.Name),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()),
		kgo.MaxBufferedRecords(maxBuffered),
	)
	if err != nil {
		return fmt.Errorf("produce to topic %s: %w", t.Name, err)
	}
	defer client.Close()
	t.Partitions = max(t.Partitions, 1)
	if err := ensureTopic(ctx, client, t); err != nil {
		return err
	}
	return produceRecords(ctx, client, g, t, l)
}

func ensureTopic(ctx context.Context, client *kgo.Client, t Topic) error {
	_, err := kadm.NewClient(client).CreateTopic(ctx, t.Partitions, 1, nil, t.Name)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("create topic %s: %w", t.Name, err)
	}
	return nil
}

func produceRecords(ctx context.Context, client *kgo.Client, g *Generator, t Topic, l Landing) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	acknowledged := func(_ *kgo.Record, err error) {
		if err != nil {
			stop(fmt.Errorf("produce to topic %s: %w", t.Name, err))
		}
	}
	sent := int32(0)
	send := func(line []byte) {
		value := bytes.TrimSuffix(line, []byte{'\n'})
		client.Produce(ctx, &kgo.Record{Partition: sent, Value: value}, acknowledged)
		sent = (sent + 1) % t.Partitions
	}
	for i := range l.Records {
		if ctx.Err() != nil {
			break
		}
		send(g.Append(make([]byte, 0, 512)))
		if l.BadEvery > 0 && (i+1)%l.BadEvery == 0 {
			send(g.AppendBad(nil))
		}
	}
	if err := client.Flush(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("produce to topic %s: wait for acknowledgements: %w", t.Name, err)
	}
	return context.Cause(ctx)
}
