package kafka_test

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/source/kafka"
)

// One batch, as the engine reads it: plan, record the plan, move on, read.
func Example() {
	ctx := context.Background()
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	defer cluster.Close()
	produce(ctx, cluster.ListenAddrs(), "a", "b", "c")

	topics, err := kafka.New(kafka.Config{Brokers: cluster.ListenAddrs(), Topics: []string{"orders"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer topics.Close() //nolint:errcheck // always nil
	if err := topics.Restore(ctx, source.History{First: true}); err != nil {
		fmt.Println(err)
		return
	}
	planned, err := topics.Next(ctx, source.Limits{MaxRecords: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(planned.Ranges[0], "more:", planned.More)
	topics.Advance(0, planned.Ranges) // the plan is recorded by now
	lost, err := topics.Read(ctx, planned.Ranges, func(b *source.Block) error {
		for i, value := range b.Values {
			fmt.Printf("%s@%d %s\n", b.Partition, b.Positions[i], value)
		}
		return nil
	})
	fmt.Println("lost:", len(lost), err)
	// Output:
	// orders/0 [0, 2) more: true
	// orders/0@0 a
	// orders/0@1 b
	// lost: 0 <nil>
}

func produce(ctx context.Context, brokers []string, values ...string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for _, v := range values {
		if err := client.ProduceSync(ctx, kgo.StringRecord(v)).FirstErr(); err != nil {
			fmt.Println(err)
		}
	}
}
