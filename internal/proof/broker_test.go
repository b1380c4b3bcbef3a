package proof

import (
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

func TestBrokerThatDiesOrGoesAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	broker := kafkatest.OwnBroker(t)
	j := newJudge(t)
	t.Run("killed under load", func(t *testing.T) { killedUnderLoad(t, j, broker) })
	t.Run("away for long", func(t *testing.T) { awayForLong(t, j, broker) })
	t.Run("seen to be away", func(t *testing.T) { brokerSeenAway(t, j, broker) })
	j.judge(t)
}

// killedUnderLoad has a producer that goes on as well: its client waits for the broker, and is idempotent.
func killedUnderLoad(t *testing.T, j *judge, broker *kafkatest.Node) {
	const partitions = 3
	topic := broker.Topic(t, partitions)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 1000}")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	w := repeat(t, 20*time.Millisecond, func() error { return p.send(client, topic, partitions, 12) })
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
	stopped := time.Now()
	broker.Stop(t)
	reminders := either(t, 0, 3)
	process.must(t, "; waiting for it since", reminders)
	process.must(t, "; waiting for it", reminders+1)
	broker.Start(t)
	process.must(t, ": works again", 1)
	most := remindersWithin(time.Since(stopped)) // on a busy machine a broker may take long to start
	if n, _ := process.stderr.count("; waiting for it"); n > most+1 {
		t.Errorf("it was said %d times that the broker is away, want %d:\n%s", n, most+1, process.stderr.text())
	}
	must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 1, 50) })
	process.must(t, "msg=committed", 2)
	s.stop(t, process)
	s.check(t, p)
}

// remindersWithin is how many are due of an outage of so long: after 30, 90, 210 and 450 seconds, and so on.
func remindersWithin(away time.Duration) (n int) {
	for pause, due := 30*time.Second, 30*time.Second; due <= away; n++ {
		pause = min(2*pause, 5*time.Minute)
		due += pause
	}
	return n
}
