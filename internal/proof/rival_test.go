package proof

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// exitFenced is the exit code of a process that found another one running its pipeline.
const exitFenced = 4

// feed is a pipeline's site and the hand that feeds its source.
type feed struct {
	*site
	*producer
	step func() error
}

// eachSource runs a test over a landing folder and over a real Kafka, in small batches.
func eachSource(t *testing.T, j *judge, test func(t *testing.T, f feed)) {
	t.Run("files", func(t *testing.T) {
		s := j.site(t, fileSource, noteColumns, "", "batch: {max_files: 2}")
		p := &producer{}
		test(t, feed{s, p, func() error { return p.land(s.landing, 20) }})
	})
	t.Run("kafka", func(t *testing.T) {
		broker := kafkatest.Broker(t)
		const partitions = 2
		topic := broker.Topic(t, partitions)
		s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "", "batch: {max_records: 40}")
		p := &producer{}
		client := broker.Client(t, manualPartitioner)
		test(t, feed{s, p, func() error { return p.send(client, topic, partitions, 20) }})
	})
}

func TestTwoProcessesOfOnePipelineCommitNothingTwice(t *testing.T) {
	j := newJudge(t)
	eachSource(t, j, func(t *testing.T, f feed) {
		w := repeat(t, 10*time.Millisecond, f.step)
		fenced := 0
		for range 6 {
			pair := []*process{f.start(t), f.start(t)}
			survivors := 0
			for _, p := range pair {
				if p.await("msg=committed", 4, patience) {
					survivors++
				}
			}
			if survivors == 0 {
				t.Fatalf("neither goes on:\n%s\n%s", pair[0].stderr.text(), pair[1].stderr.text())
			}
			for _, p := range pair {
				p.signal(syscall.SIGTERM)
				switch code := p.wait(t); code {
				case 0:
				case exitFenced:
					fenced++
				default:
					t.Fatalf("exit %d:\n%s", code, p.stderr.text())
				}
			}
		}
		w.stop(t)
		f.finish(t)
		f.check(t, f.producer)
		t.Logf("%d of 12 processes were fenced; %d versions", fenced, newest(t, f.table)+1)
	})
	j.judge(t)
}

func TestStoppedProcessThatWakesUpIsFencedAndCommitsNothingTwice(t *testing.T) {
	j := newJudge(t)
	eachSource(t, j, func(t *testing.T, f feed) {
		r := choices(t)
		for range 3 {
			w := repeat(t, 5*time.Millisecond, f.step)
			sleeper := f.start(t)
			sleeper.must(t, "msg=committed", 2)
			sleeper.await("msg=planned", 3+r.IntN(4), patience)
			sleeper.stop(t)
			w.stop(t)
			must(t, f.step) // so that the second process commits something
			f.finish(t)
			must(t, f.step) // so that the first has something to plan
			sleeper.signal(syscall.SIGCONT)
			if code := sleeper.wait(t); code != exitFenced {
				t.Fatalf("exit %d, want %d:\n%s", code, exitFenced, sleeper.stderr.text())
			}
		}
		f.finish(t)
		f.check(t, f.producer)
	})
	j.judge(t)
}

func TestFencedProcessSaysWhatToDo(t *testing.T) {
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, "", "batch: {max_files: 1}")
	p := &producer{}
	land := func() error { return p.land(s.landing, 5) }
	must(t, land)
	sleeper := s.start(t)
	sleeper.must(t, "waiting for records", 1)
	sleeper.stop(t)
	must(t, land)
	s.finish(t)
	must(t, land)
	sleeper.signal(syscall.SIGCONT)
	if code := sleeper.wait(t); code != exitFenced {
		t.Errorf("exit %d, want %d", code, exitFenced)
	}
	wants(t, sleeper, "another process runs this pipeline")
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}

func must(t *testing.T, step func() error) {
	t.Helper()
	if err := step(); err != nil {
		t.Fatal(err)
	}
}

// wants wants all texts in what a process said.
func wants(t *testing.T, p *process, texts ...string) {
	t.Helper()
	said := p.stderr.text()
	missing := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return containsFold(said, text) })
	if len(missing) > 0 {
		t.Errorf("not said: %q in:\n%s", missing, said)
	}
}
