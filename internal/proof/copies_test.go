package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

func TestThreeCopiesOfOnePipelineCommitEachBatchOnce(t *testing.T) {
	const copies = 3
	batches := either(t, 30, 200)
	j := newJudge(t)
	j.startS3(t)
	eachBacklog(t, j, batches, func(t *testing.T, f feed) {
		var running sync.WaitGroup
		var fenced atomic.Int64
		for range copies {
			running.Go(func() { f.supervise(t, &fenced) })
		}
		running.Wait()
		f.check(t, f.producer)
		if n := newest(t, f.table) + 1; n != int64(batches) {
			t.Errorf("%d versions, want one for each of %d batches", n, batches)
		}
		t.Logf("%d batches; %d processes were fenced", batches, fenced.Load())
	})
	j.judge(t)
}

// eachBacklog runs a test over a landing folder, on the local disk and in S3, and over a real Kafka, which hold so many
// batches of ten records.
func eachBacklog(t *testing.T, j *judge, batches int, test func(t *testing.T, f feed)) {
	files := func(at places) func(*testing.T) {
		return func(t *testing.T) {
			f := j.filePerBatch(t, at)
			for range batches {
				must(t, f.step)
			}
			test(t, f)
		}
	}
	t.Run("files", files(places{}))
	t.Run("s3", files(places{landing: j.s3.place("landing"), table: j.s3.place("notes")}))
	t.Run("kafka", func(t *testing.T) {
		const partitions = 2
		broker := kafkatest.Broker(t)
		topic := broker.Topic(t, partitions)
		s, p := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 10}"), &producer{}
		must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, partitions, 10*batches) })
		test(t, feed{site: s, producer: p})
	})
}

// filePerBatch is a pipeline whose batches are a file of ten notes each.
func (j *judge) filePerBatch(t *testing.T, at places, keys ...string) feed {
	t.Helper()
	source := fileSource
	if at.landing != "" {
		source = filesIn(at.landing)
	}
	s, p := j.siteAt(t, at, source, noteColumns, "", append(keys, "batch: {max_files: 1}")...), &producer{}
	return feed{s, p, func() error { return p.land(s.landing, 10) }}
}

// supervise runs the pipeline to the end of what is there, and again whenever it is fenced, as a supervisor does.
func (s *site) supervise(t *testing.T, fenced *atomic.Int64) {
	for {
		p := start(t, "run", s.file, "--trigger", "available-now")
		switch code := p.wait(t); code {
		case 0:
			return
		case exitFenced:
			fenced.Add(1)
		default:
			t.Errorf("exit %d:\n%s", code, p.stderr.text())
			return
		}
	}
}

func TestProcessWhosePassedBatchesAnotherHasCommittedIsFenced(t *testing.T) {
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, "", "batch: {max_files: 1}")
	p := &producer{}
	must(t, func() error { return p.land(s.landing, 5) })
	first := s.start(t)
	first.must(t, "msg=committed", 1)
	for i := range 2 { // files without a record, whose batches leave no commit
		must(t, func() error {
			return os.WriteFile(filepath.Join(s.landing, fmt.Sprintf("blank-%d.ndjson", i)), []byte("\n\n"), 0o666)
		})
		first.must(t, "batch has no rows", i+1)
	}
	wants(t, s.finish(t), "rerun=2", "msg=committed")
	must(t, func() error { return p.land(s.landing, 5) })
	if code := first.wait(t); code != exitFenced {
		t.Errorf("exit %d, want %d:\n%s", code, exitFenced, first.stderr.text())
	}
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}
