package proof

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	want := []source.Lag{{Partition: topic + "/0", Position: 50, End: 50}, {Partition: topic + "/1", Position: 50, End: 50}}
	if diff := cmp.Diff(want, s.status(t).Positions); diff != "" {
		t.Errorf("status: %s", diff)
	}
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
