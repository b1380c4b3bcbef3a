package pipeline_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/pipeline"
)

// TestTombstonesThatAreLeftOutAreCounted also has batches of nothing but tombstones, which make no commit: the next one
// counts them.
func TestTombstonesThatAreLeftOutAreCounted(t *testing.T) {
	c := kafkatest.Fake(t)
	name := c.Topic(t, 1)
	in := &input{yaml: "  kafka: {brokers: [" + c.Addrs[0] + "], topics: [" + name + "]}\n  format: {json: {tombstones: drop}}\n"}
	good := func() *kgo.Record { return kafkatest.Record(`{"id": 7}`) }
	records := []*kgo.Record{good()}
	for range 5 {
		records = append(records, &kgo.Record{Key: []byte("k")})
	}
	c.Produce(t, name, 0, append(records, good())...)
	in.good = []int64{7, 7}
	w := newWorld(t, in, "batch: {max_records: 2}\n")
	w.mustRun(t)
	w.check(t)
	p, err := pipeline.Build(w.file, pipeline.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Status(t.Context())
	if err != nil || s.Tombstones != 5 || s.Rows != 2 {
		t.Errorf("%d tombstones, %d rows, %v", s.Tombstones, s.Rows, err)
	}
}
