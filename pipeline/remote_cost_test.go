package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
)

// TestRequestsOfABatchInS3 compares the requests of one batch with a golden transcript, in tables of ten, a thousand and a
// hundred thousand versions: one put each for plan, data file and commit, and nothing that lists or reads.
func TestRequestsOfABatchInS3(t *testing.T) {
	var proxy *s3test.Proxy
	c := newCloud(t, 0, 0, func(s *s3test.Server) string {
		proxy = s3test.NewProxy(t, s)
		return proxy.URL
	})
	fake := kafkatest.Fake(t)
	name := fake.Topic(t, 1)
	c.in.yaml = "  kafka: {brokers: [" + fake.Addrs[0] + "], topics: [" + name + "]}\n"
	const batches = 150
	records := make([]*kgo.Record, batches)
	for i := range records {
		records[i] = kafkatest.Record(`{"id": 1, "day": "2024-05-01"}`)
	}
	fake.Produce(t, name, 0, records...)
	golden := filepath.Join("testdata", "transcripts", "s3.txt")
	for _, versions := range []int{10, 1_000, longHistory} {
		began := time.Now()
		requests := requestsOfBatches(t, c, proxy, versions)
		if len(requests) != batches {
			t.Fatalf("%d batches", len(requests))
		}
		if *update {
			if err := os.WriteFile(golden, []byte(anonymous(requests[10])), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for at, r := range requests {
			total += len(r)
			// Before the first two is what a run does once: read the table, and look whether an old error is over.
			if diff := cmp.Diff(string(want), anonymous(r)); at > 1 && at < 100 && diff != "" {
				t.Errorf("requests of batch %d behind %d versions (-update-transcripts accepts them):\n%s", at, versions, diff)
			}
		}
		const perBatch = 4 // with the plans that are pruned after a hundred batches, one DELETE each
		if total > perBatch*batches+20 {
			t.Errorf("%d requests for %d batches, want %d each and a few", total, batches, perBatch)
		}
		t.Logf("%d versions: %d requests for %d batches, %v", versions, total, batches, time.Since(began).Round(time.Millisecond))
	}
}

// requestsOfBatches runs the cloud's topic to its end into a table that has so many versions, and returns the requests of each batch.
func requestsOfBatches(t *testing.T, c *cloud, proxy *s3test.Proxy, versions int) map[int64][]string {
	t.Helper()
	requests := map[int64][]string{}
	events := batch.Events{ // what is cleared up between a commit and the next plan counts for the next batch
		Planned:   func(p offsetlog.Plan, _ bool) { requests[p.Batch] = proxy.Take() },
		Committed: func(d batch.Done) { requests[d.Record.Batch] = append(requests[d.Record.Batch], proxy.Take()...) },
	}
	w := c.world(t, uuid.NewString(), "batch: {max_records: 1}\nmaintenance: {checkpoint: \"off\"}\n")
	past := func(name string, s storage.Store) storage.Store {
		if name == "table" {
			return &longLog{Store: s, versions: versions}
		}
		return s
	}
	if err := w.run(t.Context(), pipeline.BuildOptions{Events: events, Wrap: past, Sequential: true}); err != nil {
		t.Fatal(err)
	}
	return requests
}

// longLog is a table's store with commits of somebody else before those that are in it.
type longLog struct {
	storage.Store
	versions int
}

const (
	logFolder   = "_delta_log/"
	firstCommit = `{"commitInfo":{"timestamp":1700000000000,"operation":"CREATE TABLE"}}
{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"00000000-0000-4000-8000-000000000000","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}},{\"name\":\"day\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},{\"name\":\"note\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1700000000000}}
`
	laterCommit = `{"commitInfo":{"timestamp":1700000000000,"operation":"WRITE"}}
{"add":{"path":"part-%d.parquet","partitionValues":{},"size":1,"modificationTime":1700000000000,"dataChange":true,"stats":"{\"numRecords\":1}"}}
`
)

func (l *longLog) commit(key string) ([]byte, bool) {
	var version int
	if _, err := fmt.Sscanf(key, logFolder+"%020d.json", &version); err != nil || version >= l.versions {
		return nil, false
	}
	if version == 0 {
		return []byte(firstCommit), true
	}
	return fmt.Appendf(nil, laterCommit, version), true
}

func (l *longLog) Get(ctx context.Context, key string) ([]byte, error) {
	if body, ours := l.commit(key); ours {
		return body, nil
	}
	return l.Store.Get(ctx, key)
}

func (l *longLog) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	for v := range l.versions {
		key := fmt.Sprintf(logFolder+"%020d.json", v)
		if key <= startAfter || !strings.HasPrefix(key, prefix) {
			continue
		}
		if err := fn(storage.Info{Key: key, Size: int64(len(laterCommit)), Modified: time.Unix(1_700_000_000, 0)}); err != nil {
			return err
		}
	}
	return l.Store.List(ctx, prefix, startAfter, fn)
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
