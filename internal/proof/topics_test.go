package proof

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// recreations are what a topic of two partitions and 40 records may be after it was deleted and created again.
var recreations = []struct {
	name       string
	partitions int32
	records    int
}{
	{"fewer", 1, 20},
	{"as many", 2, 40},
	{"more", 3, 90},
}

func TestTopicThatWasCreatedAgainIsRefusedAndIsReadFromItsBeginningWhenToldSo(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	t.Run("of", func(t *testing.T) {
		for _, again := range recreations {
			for _, running := range []bool{false, true} {
				name := again.name + map[bool]string{false: ", while stopped", true: ", while running"}[running]
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					broker := kafkatest.Broker(t)
					topic := broker.Topic(t, 2)
					s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
					p := &producer{}
					must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 2, 40) })
					process := s.start(t)
					process.must(t, "waiting for records", 1)
					if !running {
						s.stop(t, process)
					}
					broker.Delete(t, topic)
					if running { // it may see the deletion alone
						if code := process.wait(t); code != exitLost {
							t.Errorf("exit %d, want %d", code, exitLost)
						}
						wants(t, process, topic, "--topic-recreated from-earliest")
					}
					broker.Create(t, topic, int(again.partitions))
					must(t, func() error {
						return p.send(broker.Client(t, manualPartitioner), topic, again.partitions, again.records)
					})
					wants(t, run(t, exitLost, "run", s.file), topic+" was deleted and created again", "--topic-recreated from-earliest")
					if status := s.status(t); len(status.Positions) == 0 || !containsFold(status.Positions[0].Note, "the topic was created again") {
						t.Errorf("status: positions %+v", status.Positions)
					}
					wants(t, s.finish(t, "--topic-recreated", "from-earliest"), "it is read from its beginning")
					must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, again.partitions, 10) })
					s.finish(t)
					s.check(t, p)
				})
			}
		}
	})
	j.judge(t)
}

// The plan of a batch names the old topic, whose records are gone for good.
func TestTopicThatWasCreatedAgainBehindAPlanLosesWhatWasPlanned(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	l := newLossy(t, j)
	bad := &kgo.Record{Topic: l.topic, Value: []byte(badNote(0))}
	must(t, func() error { return l.client.ProduceSync(t.Context(), bad).FirstErr() })
	l.more(t, 30)
	run(t, 1, "run", l.file)
	l.lose(50, 80)
	l.broker.Delete(t, l.topic)
	wants(t, run(t, exitLost, "run", l.file), "does not exist on the cluster any more")
	l.broker.Create(t, l.topic, 1)
	l.client = l.broker.Client(t, manualPartitioner)
	l.more(t, 100)
	wants(t, run(t, exitLost, "run", l.file), "was deleted and created again")
	wants(t, l.finish(t, "--topic-recreated", "from-earliest"), "from=50 to=81")
	l.finish(t)
	l.check(t, l.producer)
	j.judge(t)
}

func TestNewPartitionsAreReadFromTheirBeginningThoughTheStartIsLatest(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	broker := kafkatest.Broker(t)
	topic := broker.Topic(t, 2)
	s := j.site(t, kafkaSource(broker.Cluster, topic, "start: latest"), noteColumns, "", "batch: {max_records: 1000}")
	p := &producer{}
	load := func(partitions int32) func() error {
		client := broker.Client(t, manualPartitioner)
		return func() error { return p.send(client, topic, partitions, 30) }
	}
	must(t, load(2))
	p.lose(0, 30) // before the start
	process := s.start(t)
	process.must(t, "msg=planned", 1)
	for partitions := int32(4); partitions <= 8; partitions += 2 { // under load
		before := repeat(t, 20*time.Millisecond, load(partitions-2))
		broker.AddPartitions(t, topic, int(partitions))
		before.stop(t)
		must(t, load(partitions))
		process.must(t, "is new: it is read from its beginning", int(partitions)-2)
	}
	s.stop(t, process)
	broker.AddPartitions(t, topic, 9) // while stopped
	must(t, load(9))
	wants(t, s.finish(t), topic+"/8 is new: it is read from its beginning, offset 0")
	s.check(t, p)
	j.judge(t)
}

func TestStartThatIsChangedLaterHasNoEffectAndThatIsSaid(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	l := newLossy(t, j)
	for _, start := range []string{"latest", "2026-01-31T08:00:00Z", `{"` + l.topic + `/0": 0}`} {
		l.more(t, 20)
		l.configure(t, pipelineName, kafkaSource(l.broker.Cluster, l.topic, "start: "+start), noteColumns, "")
		if notices := l.status(t).Notices; len(notices) != 1 || !containsFold(notices[0], "was earliest when the pipeline began") {
			t.Errorf("status: notices %q", notices)
		}
		wants(t, l.finish(t), "was earliest when the pipeline began", "the run goes on from the saved positions")
	}
	l.configure(t, pipelineName, kafkaSource(l.broker.Cluster, l.topic), noteColumns, "")
	if notices := l.status(t).Notices; len(notices) != 0 {
		t.Errorf("status with the first start: notices %q", notices)
	}
	l.check(t, l.producer)
	j.judge(t)
}
