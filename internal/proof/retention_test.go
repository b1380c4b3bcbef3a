package proof

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

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
	if note := l.status(t).LastError; note == nil || !containsFold(note.Error, "[50, 75)") {
		t.Errorf("status: last error %v", note)
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
