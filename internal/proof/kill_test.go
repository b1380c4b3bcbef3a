package proof

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

// kills is how often each pipeline's process is killed: 50 and more in all.
const kills = 12

// shape is a kind of pipeline that is killed.
type shape struct {
	name      string
	columns   string // empty: inferred from the first batch
	tableKeys string
	badEvery  int64
	keys      []string
	// What is in S3 besides the landing folder, where the test is about S3. A checkpoint that is not is below the table.
	remoteTable, remoteCheckpoint bool
}

var shapes = []shape{
	{name: "plain", columns: noteColumns, remoteTable: true},
	{name: "inferred", remoteCheckpoint: true},
	{name: "partitioned", columns: noteColumns, tableKeys: ", partition_by: [part]", remoteTable: true, remoteCheckpoint: true},
	{name: "quarantine", columns: noteColumns, tableKeys: ", partition_by: [part]", badEvery: 7, keys: []string{"on_error: quarantine"}, remoteTable: true, remoteCheckpoint: true},
}

func TestKilledOverALandingFolderEachRecordIsInTheTableOnce(t *testing.T) {
	eachShape(t, newJudge(t), 10*time.Millisecond, func(t *testing.T, j *judge, shape shape) feed {
		s := j.site(t, fileSource, shape.columns, shape.tableKeys, append(shape.keys, "batch: {max_files: 3, max_records: 60}")...)
		p := &producer{badEvery: shape.badEvery}
		return feed{s, p, func() error { return p.land(s.landing, 25) }}
	})
}

func TestKilledOverKafkaEachRecordIsInTheTableOnce(t *testing.T) {
	broker := kafkatest.Broker(t)
	eachShape(t, newJudge(t), 10*time.Millisecond, func(t *testing.T, j *judge, shape shape) feed {
		const partitions = 3
		topic := broker.Topic(t, partitions)
		s := j.site(t, kafkaSource(broker.Cluster, topic), shape.columns, shape.tableKeys, append(shape.keys, "batch: {max_records: 200}")...)
		p := &producer{badEvery: shape.badEvery}
		client := broker.Client(t, manualPartitioner)
		return feed{s, p, func() error { return p.send(client, topic, partitions, 30) }}
	})
}

func TestKilledOverS3EachRecordIsInTheTableOnce(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	eachShape(t, j, 100*time.Millisecond, func(t *testing.T, j *judge, shape shape) feed {
		at, keys := places{landing: j.s3.place("landing")}, append(shape.keys, "batch: {max_files: 3, max_records: 60}")
		if shape.remoteTable {
			at.table = j.s3.place("notes")
		}
		if shape.remoteCheckpoint {
			keys = append(keys, "checkpoint: "+j.s3.place("checkpoint"))
		}
		s := j.siteAt(t, at, filesIn(at.landing), shape.columns, shape.tableKeys, keys...)
		p := &producer{badEvery: shape.badEvery}
		return feed{s, p, func() error { return p.land(s.landing, 25) }}
	})
}

// eachShape kills pipelines of all shapes while their sources grow every so often.
func eachShape(t *testing.T, j *judge, every time.Duration, lay func(*testing.T, *judge, shape) feed) {
	t.Helper()
	t.Run("of", func(t *testing.T) {
		for _, shape := range shapes {
			t.Run(shape.name, func(t *testing.T) {
				t.Parallel()
				f := lay(t, j, shape)
				w := repeat(t, every, f.step)
				f.killAgainAndAgain(t, kills)
				w.stop(t)
				f.finish(t)
				f.check(t, f.producer)
				t.Logf("%d records, %d versions", f.notes+f.bad, newest(t, f.table)+1)
			})
		}
	})
	j.judge(t)
}

// killAgainAndAgain starts the pipeline and kills it, each time at another instant.
func (s *site) killAgainAndAgain(t *testing.T, times int) {
	t.Helper()
	r := choices(t)
	reruns := 0
	for i := range times {
		process := s.start(t)
		instant := s.awaitInstant(process, r)
		process.signal(syscall.SIGKILL)
		if code := process.wait(t); code != -int(syscall.SIGKILL) {
			t.Fatalf("kill %d (%s): the process had ended before, with exit code %d:\n%s", i, instant, code, process.stderr.text())
		}
		if said := process.stderr.text(); strings.Contains(said, "rerun=") && !strings.Contains(said, "rerun=0") {
			reruns++
		}
	}
	t.Logf("%d kills; %d starts found a batch in flight", times, reruns)
}

// awaitInstant waits for the time to kill: somewhere in the first 300 ms, or shortly after a line of the log.
func (s *site) awaitInstant(p *process, r *rand.Rand) string {
	delay := time.Duration(r.Int64N(int64(300 * time.Millisecond)))
	instant := fmt.Sprintf("%v after the start", delay)
	if line := []string{"", "msg=planned", "msg=committed"}[r.IntN(3)]; line != "" {
		n := 1 + r.IntN(4)
		delay /= 20
		p.await(line, n, 2*time.Second)
		instant = fmt.Sprintf("%v after %q was said %d times", delay, line, n)
	}
	select {
	case <-time.After(delay):
	case <-p.ended:
	}
	return instant
}
