package proof

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

func TestBrokerThatDiesOrGoesAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	broker := kafkatest.OwnBroker(t)
	j := newJudge(t)
	t.Run("killed under load", func(t *testing.T) { killedUnderLoad(t, j, broker) })
	t.Run("away for long", func(t *testing.T) { awayForLong(t, j, broker) })
	j.judge(t)
}

// killedUnderLoad has a producer that goes on as well: its client waits for the broker, and is idempotent.
func killedUnderLoad(t *testing.T, j *judge, broker *kafkatest.Node) {
	const partitions = 3
	topic := broker.Topic(t, partitions)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 200}")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	w := repeat(t, 10*time.Millisecond, func() error { return p.send(client, topic, partitions, 30) })
	process := s.start(t)
	r := choices(t)
	kills := either(t, 2, 20)
	for i := range kills {
		committed, _ := process.stderr.count("msg=committed")
		process.must(t, "msg=committed", committed+2)
		process.must(t, []string{"msg=planned", "msg=committed"}[r.IntN(2)], committed+3)
		broker.Restart(t)
		process.must(t, "reach Kafka: works again", i+1)
	}
	committed, _ := process.stderr.count("msg=committed")
	process.must(t, "msg=committed", committed+2)
	w.stop(t)
	s.stop(t, process)
	s.finish(t)
	s.check(t, p)
	t.Logf("%d kills, %d records, %d versions", kills, p.notes, newest(t, s.table)+1)
}

func awayForLong(t *testing.T, j *judge, broker *kafkatest.Node) {
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	p := &producer{}
	must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 1, 50) })
	process := s.start(t)
	process.must(t, "waiting for records", 1)
	broker.Stop(t)
	reminders := either(t, 0, 3) // after 30, 90 and 210 seconds
	process.must(t, "; waiting for it since", reminders)
	process.must(t, "; waiting for it", reminders+1)
	broker.Start(t)
	process.must(t, ": works again", 1)
	if n, _ := process.stderr.count("; waiting for it"); n != reminders+1 {
		t.Errorf("it was said %d times that the broker is away, want %d:\n%s", n, reminders+1, process.stderr.text())
	}
	must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 1, 50) })
	process.must(t, "msg=committed", 2)
	s.stop(t, process)
	s.check(t, p)
}

// A transaction whose timeout passes while its broker is dead can stay open for ever, since nobody writes its marker: the
// coordinator that comes up first finds no leader for the partition. Only Kafka's own tools can end it.
func TestTransactionThatTheBrokersDeathLeftHangingIsSaidUntilItIsAborted(t *testing.T) {
	if chaosTime(t) == 0 {
		t.Skip("what it waits for takes a minute: make chaos has the time")
	}
	t.Parallel()
	broker := kafkatest.OwnBroker(t, "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000")
	j := newJudge(t)
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	must(t, func() error { return p.send(client, topic, 1, 10) })
	s.finish(t)
	open := broker.Begin(t, kgo.TransactionTimeout(time.Second)) // less than a restart takes
	open.Produce(t, topic, 0, records(unwanted(), 5)...)
	broker.Restart(t)
	process := s.start(t)
	process.must(t, "waiting for records", 1)
	must(t, func() error { return p.send(client, topic, 1, 10) })
	if !process.await("the last stable offset 10 does not move while the high watermark grows", 1, time.Minute) {
		t.Skipf("this broker ended the transaction by itself:\n%s", process.stderr.text())
	}
	if note := s.status(t).Positions[0].Note; !containsFold(note, "an open transaction holds the last stable offset at 10") {
		t.Errorf("status: %q", note)
	}
	broker.AbortHanging(t, topic, 0)
	process.must(t, "past its last stable offset: works again", 1)
	process.must(t, "msg=committed", 1)
	s.stop(t, process)
	s.check(t, p)
	j.judge(t)
}
