package pipeline_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/storagetest"
)

var update = flag.Bool("update-transcripts", false, "write the golden transcripts anew")

// TestOrderOfStorageOperations compares the storage operations of runs with golden transcripts: what is durable before
// what. A batch of a steady state is one put for its plan, its data file, and one put for its commit; nothing is read or
// listed in the lake.
func TestOrderOfStorageOperations(t *testing.T) {
	tests := map[string]struct {
		in    *input
		extra string
	}{
		"files":      {landing(t, 3, 4), "on_error: skip\nbatch: {max_files: 1}\n"},
		"quarantine": {landing(t, 2, 8), "  partition_by: [day]\n" + quarantined + "batch: {max_files: 1}\n"},
		"kafka":      {topic(t, 1, 12), "on_error: skip\nbatch: {max_records: 4}\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.in, test.extra)
			var transcript storagetest.Transcript
			options := pipeline.BuildOptions{
				Sequential: true,
				Wrap: func(name string, s storage.Store) storage.Store {
					if name == "landing" {
						return s // files are read in whatever pieces
					}
					return transcript.Wrap(name, s)
				},
				Events: batch.Events{
					Planned:   func(p offsetlog.Plan, _ bool) { transcript.Note("# planned") },
					Committed: func(d batch.Done) { transcript.Note("# committed") },
				},
			}
			if err := w.run(t.Context(), options); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "transcripts", name+".txt")
			got := transcript.Take()
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the order of storage operations is another one (-update-transcripts accepts it):\n%s", diff)
			}
		})
	}
}

// TestCostOfABatchDoesNotGrow counts the operations of one batch at the beginning and after many.
func TestCostOfABatchDoesNotGrow(t *testing.T) {
	c := kafkatest.Fake(t)
	name := c.Topic(t, 1)
	in := &input{yaml: "  kafka: {brokers: [" + c.Addrs[0] + "], topics: [" + name + "]}\n"}
	const batches = 60
	for i := range batches {
		c.Produce(t, name, 0, kafkatest.Record(`{"id": 1, "day": "2024-05-01"}`))
		_ = i
	}
	w := newWorld(t, in, "batch: {max_records: 1}\n")
	var ops int
	var costs []int
	options := pipeline.BuildOptions{
		Sequential: true,
		Wrap: func(_ string, s storage.Store) storage.Store {
			return storage.Wrap(s, func(op *storage.Op, call func() error) error {
				if op.Name != "write" {
					ops++
				}
				return call()
			})
		},
		Events: batch.Events{Committed: func(batch.Done) { costs = append(costs, ops); ops = 0 }},
	}
	if err := w.run(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	if len(costs) != batches {
		t.Fatalf("%d batches", len(costs))
	}
	for i, cost := range costs[2:] {
		if cost != costs[2] {
			t.Errorf("batch %d took %d operations, batch 2 took %d", i+2, cost, costs[2])
		}
	}
}
