package proof

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// records are new notes as records without a topic.
func records(p *producer, notes int) []*kgo.Record {
	var made []*kgo.Record
	for _, value := range p.next(notes) {
		made = append(made, &kgo.Record{Value: value})
	}
	return made
}

// unwanted makes notes that no table may hold: a check finds them as never produced.
func unwanted() *producer { return &producer{notes: 1_000_000} }

func TestAbortedRecordsAreNeverInTheTable(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 2)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 70}")
	p, aborted := &producer{}, unwanted()
	process := s.start(t)
	r := choices(t)
	client := broker.Client(t, manualPartitioner)
	for i := range either(t, 20, 400) { // two transactions at once, whose records lie between each other
		good, bad := broker.Begin(t), broker.Begin(t)
		for range 3 {
			partition := r.Int32N(2)
			good.Produce(t, topic, partition, records(p, 10)...)
			bad.Produce(t, topic, partition, records(aborted, 10)...)
		}
		must(t, func() error { return p.send(client, topic, 2, 5) })
		if i%2 == 0 {
			good.Commit(t)
			bad.Abort(t)
		} else {
			bad.Abort(t)
			good.Commit(t)
		}
	}
	process.must(t, "msg=committed", 2)
	s.stop(t, process)
	for partition := range int32(2) {
		broker.AwaitStable(t, topic, partition, 1)
	}
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}

func TestOpenTransactionEndsAvailableNowAndIsSaid(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	must(t, func() error { return p.send(client, topic, 1, 50) })
	open := broker.Begin(t, kgo.TransactionTimeout(10*time.Minute))
	open.Produce(t, topic, 0, records(p, 5)...)
	must(t, func() error { return p.send(client, topic, 1, 20) })

	const held = "an open transaction holds the last stable offset at 50"
	wants(t, s.finish(t), held, "rows=50")
	if status := s.status(t); status.Positions[0].Position != 50 || !containsFold(status.Positions[0].Note, held) {
		t.Errorf("status: %+v", status.Positions)
	}
	process := s.start(t)
	process.must(t, "waiting for records", 1)
	must(t, func() error { return p.send(client, topic, 1, 20) })
	said := either(t, 0, 1) // after 30 seconds
	process.must(t, "the last stable offset 50 does not move while the high watermark grows (now 95)", said)
	open.Commit(t)
	process.must(t, "past its last stable offset: works again", said)
	process.must(t, "msg=committed", 1)
	s.stop(t, process)
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}

// What a coordinator that died can leave as well: nobody ends the transaction but Kafka's own tools.
func TestTransactionThatHangsIsSaidUntilItIsAborted(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	must(t, func() error { return p.send(client, topic, 1, 10) })
	abandoned := broker.Begin(t, kgo.TransactionTimeout(10*time.Minute))
	abandoned.Produce(t, topic, 0, records(unwanted(), 5)...)
	process := s.start(t)
	process.must(t, "waiting for records", 1)
	must(t, func() error { return p.send(client, topic, 1, 10) })
	if note := s.status(t).Positions[0].Note; !containsFold(note, "an open transaction holds the last stable offset at 10") {
		t.Errorf("status: %q", note)
	}
	said := either(t, 0, 3) // after 30, 60 and 120 seconds
	process.must(t, "the last stable offset 10 does not move while the high watermark grows", said)
	broker.AbortHanging(t, topic, 0)
	process.must(t, "past its last stable offset: works again", min(said, 1))
	process.must(t, "msg=committed", 2)
	s.stop(t, process)
	s.check(t, p)
	j.judge(t)
}

func TestMarkersAtTheEndOfATopicEndARunAtOnceAndAreReadOnce(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 20}")
	p := &producer{}
	must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 1, 30) })
	s.finish(t)
	for range 3 { // an aborted record and its marker each
		tx := broker.Begin(t)
		tx.Produce(t, topic, 0, records(unwanted(), 1)...)
		tx.Abort(t)
	}
	broker.AwaitStable(t, topic, 0, 36)
	wants(t, s.finish(t, "--log-level", "debug"), "batch has no rows", "rows=0")
	if status := s.status(t); status.Positions[0].Position != 36 || status.Positions[0].Note != "" {
		t.Errorf("status: %+v, want position 36", status.Positions)
	}
	again := s.finish(t, "--log-level", "debug")
	if n, _ := again.stderr.count("msg=planned"); n != 0 {
		t.Errorf("the next run reads them again:\n%s", again.stderr.text())
	}
	s.check(t, p)
	j.judge(t)
}
