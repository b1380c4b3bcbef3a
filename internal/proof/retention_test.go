package proof

import (
	"encoding/json"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/internal/kafkatest"
)

// lossy is a pipeline over a topic of one partition, to be read under a policy for lost data.
type lossy struct {
	*site
	*producer
	broker *kafkatest.Node
	client *kgo.Client
	topic  string
}

// newLossy makes the pipeline, and lets it read the first 50 notes.
func newLossy(t *testing.T, j *judge) *lossy {
	t.Helper()
	broker := kafkatest.Broker(t)
	topic := broker.Topic(t, 1)
	l := &lossy{
		site: j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, ""), producer: &producer{},
		broker: broker, client: broker.Client(t, manualPartitioner), topic: topic,
	}
	l.more(t, 50)
	l.finish(t)
	return l
}

func (l *lossy) more(t *testing.T, notes int) {
	t.Helper()
	must(t, func() error { return l.send(l.client, l.topic, 1, notes) })
}

// refused wants runs to stop at the gap, and to name it.
func (l *lossy) refused(t *testing.T, gap string) {
	t.Helper()
	for range 2 { // it stays so
		wants(t, run(t, exitLost, "run", l.file), gap, "on_data_loss: skip")
	}
}

// skip lets a run pass the gap over, and checks what is told of it.
func (l *lossy) skip(t *testing.T, said, audited string) {
	t.Helper()
	l.configure(t, pipelineName, kafkaSource(l.broker.Cluster, l.topic, "on_data_loss: skip"), noteColumns, "")
	wants(t, l.finish(t), "the source lost records; passed over", said)
	if audit := run(t, 0, "audit", l.file).stdout.String(); !containsFold(audit, audited) {
		t.Errorf("the audit does not tell of the loss:\n%s", audit)
	}
	l.more(t, 10)
	l.finish(t)
	l.check(t, l.producer)
}

func TestRecordsDeletedWhileStoppedStopTheRunOrArePassedOver(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	l := newLossy(t, j)
	l.more(t, 50)
	l.broker.DeleteRecords(t, l.topic, 0, 75)
	l.lose(50, 75)
	l.refused(t, l.topic+"/0 [50, 75)")
	status := l.status(t)
	if last := status.LastError; last == nil || !containsFold(last.Error, "[50, 75)") {
		t.Errorf("status: last error %v", last)
	}
	if len(status.Positions) != 1 || !containsFold(status.Positions[0].Note, "the offsets [50, 75) are lost") {
		t.Errorf("status: positions %+v", status.Positions)
	}
	l.skip(t, "from=50 to=75", "25 positions lost at the source")
	j.judge(t)
}

// A bad record stops the run behind its plan.
func TestRecordsDeletedBetweenPlanAndFetchStopTheRunOrArePassedOver(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	l := newLossy(t, j)
	bad := &kgo.Record{Topic: l.topic, Value: []byte(badNote(0))}
	must(t, func() error { return l.client.ProduceSync(t.Context(), bad).FirstErr() })
	l.more(t, 49)
	run(t, 1, "run", l.file)
	if status := l.status(t); status.Planned != 1 || status.Committed != 0 {
		t.Fatalf("planned batch %d, committed batch %d, want 1 and 0", status.Planned, status.Committed)
	}
	l.more(t, 20) // behind the plan
	l.broker.DeleteRecords(t, l.topic, 0, 75)
	l.lose(50, 74) // the bad one has an offset
	l.refused(t, l.topic+"/0 [50, 75)")
	l.skip(t, "from=50 to=75", "25 positions lost at the source")
	j.judge(t)
}

// The range of the plan is gone as a whole, and more behind it.
func TestAllOfThePlanAndMoreIsDeletedBetweenPlanAndFetch(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	l := newLossy(t, j)
	bad := &kgo.Record{Topic: l.topic, Value: []byte(badNote(0))}
	must(t, func() error { return l.client.ProduceSync(t.Context(), bad).FirstErr() })
	run(t, 1, "run", l.file)
	l.more(t, 20)
	l.broker.DeleteRecords(t, l.topic, 0, 61)
	l.lose(50, 60)
	l.refused(t, l.topic+"/0 [50, 51)")
	l.skip(t, "from=51 to=61", "11 positions lost at the source")
	j.judge(t)
}

// Under load the broker deletes what may or may not have been read by then: a plan is behind, and the process is stopped.
func TestRecordsDeletedUnderLoadAreInTheTableOrInAGapThatIsTold(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	l := newLossy(t, j)
	l.configure(t, pipelineName, kafkaSource(l.broker.Cluster, l.topic, "on_data_loss: skip"), noteColumns, "", "batch: {max_records: 40}")
	running := l.start(t)
	r := choices(t)
	for range either(t, 4, 100) {
		planned, _ := running.stderr.count("msg=planned")
		l.more(t, 100)
		running.must(t, "msg=planned", planned+1)
		running.stop(t)
		l.more(t, 100)
		l.broker.DeleteRecords(t, l.topic, 0, l.notes-r.Int64N(100)) // in this topic, offsets are ids
		running.signal(syscall.SIGCONT)
	}
	l.stop(t, running)
	for _, run := range []*process{running, l.finish(t)} {
		for _, gap := range gapTold.FindAllStringSubmatch(run.stderr.text(), -1) {
			from, _ := strconv.ParseInt(gap[1], 10, 64) // digits
			to, _ := strconv.ParseInt(gap[2], 10, 64)
			l.lose(from, to)
		}
	}
	if len(l.gone) == 0 {
		t.Error("nothing was lost")
	}
	var report batch.AuditReport
	must(t, func() error { return json.Unmarshal(run(t, 0, "audit", l.file, "-o", "json").stdout.Bytes(), &report) })
	if report.Lost != int64(len(l.gone)) {
		t.Errorf("the audit counts %d positions lost, the log %d", report.Lost, len(l.gone))
	}
	l.check(t, l.producer)
	t.Logf("%d of %d records were lost", len(l.gone), l.notes)
	j.judge(t)
}

var gapTold = regexp.MustCompile(`the source lost records; passed over.* from=(\d+) to=(\d+)`)
