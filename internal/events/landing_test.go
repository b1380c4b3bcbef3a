package events

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// landed returns the names in a folder and their contents behind one another, decompressed.
func landed(t *testing.T, dir string) (names []string, content []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), ".gz") {
			b = gunzip(t, b)
		}
		content = append(content, b...)
	}
	return names, content
}

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFilesHoldTheSameRecordsHoweverMany(t *testing.T) {
	want, sum := generate(1, 100)
	for files, gz := range map[int]bool{0: false, 1: true, 7: false, 8: true} {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		g := New(1)
		if err := WriteFiles(t.Context(), g, dir, Landing{Records: 100, Files: files, Gzip: gz}); err != nil {
			t.Fatal(err)
		}
		names, got := landed(t, dir)
		if len(names) != max(files, 1) || !bytes.Equal(got, want) {
			t.Errorf("%d files: %v with %d bytes, want %d", files, names, len(got), len(want))
		}
		if diff := cmp.Diff(sum, g.Summary()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestBadRecordsComeEverySoOften(t *testing.T) {
	dir := t.TempDir()
	g := New(1)
	if err := WriteFiles(t.Context(), g, dir, Landing{Records: 10, BadEvery: 3}); err != nil {
		t.Fatal(err)
	}
	_, got := landed(t, dir)
	var at []int
	for i, line := range strings.Split(string(got), "\n") {
		if strings.Contains(line, `"bad-`) {
			at = append(at, i)
		}
	}
	if diff := cmp.Diff([]int{3, 7, 11}, at); diff != "" {
		t.Error(diff)
	}
	if s := g.Summary(); s.Records != 10 || s.Bad != 3 || s.Bytes != int64(len(got)) {
		t.Errorf("%+v", s)
	}
}

func TestStoppedGenerationLeavesWholeFilesOnly(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	if err := WriteFiles(ctx, New(1), dir, Landing{Records: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if names, _ := landed(t, dir); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}

func TestTopicHoldsEveryRecordInOrderOfPartition(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	const records, partitions = 1000, 3
	topic := Topic{Brokers: cluster.ListenAddrs(), Name: "events", Partitions: partitions}
	g := New(1)
	if err := Produce(t.Context(), g, topic, Landing{Records: records, BadEvery: 100}); err != nil {
		t.Fatal(err)
	}
	sum := g.Summary()
	got := consume(t, topic, int(sum.Records+sum.Bad))

	again := New(1)
	want := make([][]string, partitions)
	sent := 0
	send := func(line []byte) {
		want[sent%partitions] = append(want[sent%partitions], strings.TrimSuffix(string(line), "\n"))
		sent++
	}
	for i := range records {
		send(again.Append(nil))
		if (i+1)%100 == 0 {
			send(again.AppendBad(nil))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func consume(t *testing.T, topic Topic, n int) [][]string {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(topic.Brokers...), kgo.ConsumeTopics(topic.Name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got := make([][]string, topic.Partitions)
	for n > 0 {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			got[r.Partition] = append(got[r.Partition], string(r.Value))
			n--
		})
	}
	return got
}

func TestProduceReportsWhatTheBrokerRefuses(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		return refusal(r.(*kmsg.ProduceRequest)), nil, true
	})
	topic := Topic{Brokers: cluster.ListenAddrs(), Name: "events", Partitions: 1}
	err = Produce(t.Context(), New(1), topic, Landing{Records: 1})
	if !errors.Is(err, kerr.TopicAuthorizationFailed) || !strings.Contains(err.Error(), "topic events") {
		t.Errorf("error %v", err)
	}
}

func refusal(req *kmsg.ProduceRequest) *kmsg.ProduceResponse {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range req.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic, t.TopicID = topic.Topic, topic.TopicID
		for _, partition := range topic.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, kerr.TopicAuthorizationFailed.Code
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}
