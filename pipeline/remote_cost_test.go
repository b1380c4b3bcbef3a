package pipeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
)

// TestRequestsOfABatchInS3 compares the requests of one batch with a golden transcript, at 10 and at 1,000 versions of the
// table: one put each for plan, data file and commit, and nothing that lists or reads.
func TestRequestsOfABatchInS3(t *testing.T) {
	const versions = 1020
	var proxy *s3test.Proxy
	c := newCloud(t, 0, 0, func(s *s3test.Server) string {
		proxy = s3test.NewProxy(t, s)
		return proxy.URL
	})
	fake := kafkatest.Fake(t)
	name := fake.Topic(t, 1)
	c.in.yaml = "  kafka: {brokers: [" + fake.Addrs[0] + "], topics: [" + name + "]}\n"
	records := make([]*kgo.Record, versions)
	for i := range records {
		records[i] = kafkatest.Record(`{"id": 1, "day": "2024-05-01"}`)
	}
	fake.Produce(t, name, 0, records...)
	requests, counted := map[int64][]string{}, map[int64]map[string]int64{}
	events := batch.Events{ // what is cleared up between a commit and the next plan counts for the next batch
		Planned: func(p offsetlog.Plan, _ bool) { requests[p.Batch] = proxy.Take() },
		Committed: func(d batch.Done) {
			requests[d.Record.Batch] = append(requests[d.Record.Batch], proxy.Take()...)
			counted[d.Record.Batch] = d.Requests
		},
	}
	w := c.world(t, "cost", "batch: {max_records: 1}\n")
	if err := w.run(t.Context(), pipeline.BuildOptions{Events: events}); err != nil {
		t.Fatal(err)
	}
	if len(requests) != versions {
		t.Fatalf("%d batches", len(requests))
	}
	golden := filepath.Join("testdata", "transcripts", "s3.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(anonymous(requests[10])), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{10, 1010} {
		if diff := cmp.Diff(string(want), anonymous(requests[at])); diff != "" {
			t.Errorf("requests of batch %d (-update-transcripts accepts them):\n%s", at, diff)
		}
		if diff := cmp.Diff(byOperation(string(want)), counted[at]); diff != "" {
			t.Errorf("requests of batch %d as they are counted: %s", at, diff)
		}
	}
	total := 0
	for _, r := range requests {
		total += len(r)
	}
	const perBatch = 4 // with the plans that are pruned after a hundred batches, one DELETE each
	if total > perBatch*versions+20 {
		t.Errorf("%d requests for %d batches, want %d each and a few", total, versions, perBatch)
	}
	t.Logf("%d requests for %d batches", total, versions)
}

// byOperation counts the requests of a transcript, of which all have to be plain ones of objects.
func byOperation(transcript string) map[string]int64 {
	counts := map[string]int64{}
	for _, line := range strings.Split(strings.TrimSpace(transcript), "\n") {
		method, _, _ := strings.Cut(line, " ")
		counts[map[string]string{"PUT": "PutObject", "GET": "GetObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}[method]]++
	}
	return counts
}

var twentyDigits = regexp.MustCompile(`[0-9]{20}`)

// anonymous replaces the numbers of batch and version, which have twenty digits.
func anonymous(requests []string) string {
	var b strings.Builder
	for _, r := range requests {
		b.WriteString(twentyDigits.ReplaceAllString(r, "N") + "\n")
	}
	return b.String()
}
