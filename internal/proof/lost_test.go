package proof

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

// exitLost is the exit code of a run whose source no longer has what was to be read.
const exitLost = 5

func TestPipelineFileThatInitWritesForATopicRuns(t *testing.T) {
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 2)
	p := &producer{}
	must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 2, 100) })
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	must(t, func() error { return os.Remove(s.file) })
	run(t, 0, "init", "--from", "kafka://"+broker.Addrs[0]+"/"+topic, "--name", pipelineName, "--table", "lake/notes", s.file)
	run(t, 0, "validate", s.file)
	s.finish(t)
	s.check(t, p)
	var status batch.Status
	if err := json.Unmarshal(run(t, 0, "status", s.file, "-o", "json").stdout.Bytes(), &status); err != nil {
		t.Fatal(err)
	}
	want := []source.Lag{{Partition: topic + "/0", Position: 50, End: 50}, {Partition: topic + "/1", Position: 50, End: 50}}
	if diff := cmp.Diff(want, status.Positions); diff != "" {
		t.Errorf("status: %s", diff)
	}
	j.judge(t)
}

// lossy is a pipeline that has read all of a topic of one partition, which then grew by notes that the broker deletes
// half of. It returns the pipeline's site and how many notes are gone for good.
func lossy(t *testing.T, broker *kafkatest.Node, j *judge, onLoss string) (s *site, p *producer, lost int64) {
	t.Helper()
	topic := broker.Topic(t, 1)
	source := kafkaSource(broker.Cluster, topic)
	s = j.site(t, source[:len(source)-1]+", on_data_loss: "+onLoss+"}", noteColumns, "")
	p = &producer{}
	client := broker.Client(t, manualPartitioner)
	must(t, func() error { return p.send(client, topic, 1, 50) })
	s.finish(t)
	must(t, func() error { return p.send(client, topic, 1, 50) })
	broker.DeleteRecords(t, topic, 0, 75)
	return s, p, 25
}

func TestRecordsThatTheBrokerDeletedStopTheRun(t *testing.T) {
	broker := kafkatest.Broker(t)
	s, _, _ := lossy(t, broker, newJudge(t), "fail")
	for range 2 { // it stays so
		refused := run(t, exitLost, "run", s.file)
		wants(t, refused, "50", "75", "on_data_loss: skip")
	}
	s.checkAudit(t, 50)
}

func TestRecordsThatTheBrokerDeletedCanBePassedOver(t *testing.T) {
	broker := kafkatest.Broker(t)
	s, p, lost := lossy(t, broker, newJudge(t), "skip")
	wants(t, s.finish(t), "the source lost records; passed over", "from=50 to=75")
	s.checkAudit(t, p.notes-lost)
	if audit := run(t, 0, "audit", s.file).stdout.String(); !containsFold(audit, "25 positions lost at the source") {
		t.Errorf("the audit does not tell of the loss:\n%s", audit)
	}
	seen := map[int64]int{}
	scan(t, s.table, []string{"id"}, func(rows arrow.Record) {
		for _, id := range rows.Column(0).(*array.Int64).Int64Values() {
			seen[id]++
		}
	})
	for id := range p.notes {
		want := 1
		if id >= 50 && id < 50+lost {
			want = 0
		}
		if seen[id] != want {
			t.Errorf("note %d is there %d times, want %d", id, seen[id], want)
		}
	}
}

func TestTopicThatWasCreatedAgainIsReadFromItsBeginningWhenToldSo(t *testing.T) {
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	must(t, func() error { return p.send(client, topic, 1, 50) })
	s.finish(t)
	broker.Delete(t, topic)
	broker.Create(t, topic, 1)
	must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 1, 20) })
	wants(t, run(t, exitLost, "run", s.file), topic, "--topic-recreated")
	s.finish(t, "--topic-recreated", "from-earliest")
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}

func TestFileThatVanishedAfterItWasPlannedStopsTheRun(t *testing.T) {
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, "")
	p := &producer{}
	must(t, func() error { return p.land(s.landing, 20) })
	s.finish(t)
	must(t, func() error { return p.land(s.landing, 20_000) })
	// A second plan without its batch: the process is killed between the two.
	planned := s.start(t)
	planned.must(t, "msg=planned", 1)
	planned.signal(syscall.SIGKILL)
	planned.wait(t)
	away, file := filepath.Join(s.folder, "away"), filepath.Join(s.landing, "000002.ndjson")
	must(t, func() error { return os.Rename(file, away) })
	if len(s.commits(t)) == 1 {
		wants(t, run(t, exitLost, "run", s.file), "000002.ndjson")
		must(t, func() error { return os.Rename(away, file) })
	}
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}
