package proof

import (
	"fmt"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/internal/interop"
)

func TestDeltaRSAtWorkBesideIngestionAndCompactionLosesAndDoublesNothing(t *testing.T) {
	besideDeltaRS(t, func(t *testing.T, f feed, engine *interop.Writer) {
		changes := []string{"append", "optimize", "merge", "delete", "add-column", "checkpoint", "vacuum", "cleanup"}
		f.besideEngine(t, engine, 100*time.Millisecond, "optimize", changes...)
		f.checkDisk(t)
	})
}

// TestSparkAtWorkBesideIngestionAndCompactionLosesAndDoublesNothing is for where SLUICE_SPARK is set: it takes minutes. The
// table is partitioned, since Spark reads all of one that is not to delete of it, and fails with each append meanwhile.
func TestSparkAtWorkBesideIngestionAndCompactionLosesAndDoublesNothing(t *testing.T) {
	readers := interop.SparkOnDemand(t)
	changes := []string{"append", "merge", "delete", "optimize", "append", "add-column", "checkpoint", "delete"}
	for _, vectors := range []string{"false", "true"} {
		t.Run("deletion vectors "+vectors, func(t *testing.T) {
			j := newJudge(t)
			f := j.begun(t, places{}, `, partition_by: [part]`)
			run(t, 0, "table", "set", f.table, "delta.enableDeletionVectors="+vectors)
			f.besideEngine(t, readers.Writer(t, "spark", f.table), time.Second, "", changes...)
			j.judge(t)
		})
	}
}

// besideDeltaRS runs a test on a table of the local disk and on one in S3, to which a batch was committed and delta-rs can
// write. By the isolation of that in S3 what reads it does not fail with each append meanwhile.
func besideDeltaRS(t *testing.T, test func(t *testing.T, f feed, engine *interop.Writer)) {
	readers := interop.Readers(t)
	j := newJudge(t)
	j.startS3(t)
	for _, name := range []string{"local", "s3"} {
		t.Run(name, func(t *testing.T) {
			at, tableKeys := places{}, ""
			if name == "s3" {
				at.table, tableKeys = j.s3.place("notes"), `, properties: {delta.isolationLevel: WriteSerializable}`
			}
			f := j.begun(t, at, tableKeys)
			test(t, f, readers.Writer(t, "deltalake", f.table))
		})
	}
	j.judge(t)
}

// begun is a pipeline whose batches are a file of ten notes each, and whose first one is committed.
func (j *judge) begun(t *testing.T, at places, tableKeys string) feed {
	t.Helper()
	s, p := j.siteAt(t, at, fileSource, noteColumns, tableKeys, "batch: {max_files: 1}"), &producer{}
	f := feed{s, p, func() error { return p.land(s.landing, 10) }}
	must(t, f.step)
	f.finish(t)
	return f
}

// besideEngine has an engine make changes, each at least once, while the table is filled, with a pause between batches, and compacted,
// and checks what has come of it: no run of ours failed, and the table has all notes, and the engine's rows, once. A change sees only
// so many of them, so that the table does not outgrow a slow engine. The engine's change blind is one that overlooks a compaction that
// came in between, and would double rows.
func (f feed) besideEngine(t *testing.T, engine *interop.Writer, pause time.Duration, blind string, changes ...string) {
	t.Helper()
	var landing, compaction sync.Mutex
	made, refused := tally{}, tally{}
	run := f.start(t)
	var batches, compactions quota
	feeding := repeat(t, pause, batches.of(alone(f.step, &landing)))
	compacting := repeat(t, 5*pause, compactions.of(alone(f.compact(t), &compaction)))
	for begun, rounds := time.Now(), 0; rounds == 0 || time.Since(begun) < chaosTime(t)/12; rounds++ {
		for _, change := range changes {
			try := func() error {
				batches.left.Store(30)
				compactions.left.Store(6)
				_, err := engine.Change(change)
				return err
			}
			busy, quiet := try, alone(try, &landing, &compaction)
			if change == blind {
				busy = alone(try, &compaction)
			}
			refused[change] += insist(t, busy, quiet)
			made[change]++
		}
	}
	feeding.stop(t)
	compacting.stop(t)
	run.signal(syscall.SIGTERM)
	if code := run.wait(t); code != 0 {
		t.Errorf("exit %d:\n%s", code, run.stderr.text())
	}
	f.finish(t)
	f.checkBeside(t)
	theirs, err := engine.Change("rows")
	must(t, func() error { return err })
	f.checkTheirs(t, theirs.Rows)
	t.Logf("%d batches, %d compactions; made:%s\nrefused by the engine:%s", f.files, compactions.made.Load(), made, refused)
}

// quota is how often a step may still be made, and how often it was.
type quota struct{ left, made atomic.Int64 }

// of is the step, which does nothing when there is nothing left.
func (q *quota) of(step func() error) func() error {
	return func() error {
		if q.left.Add(-1) < 0 {
			return nil
		}
		q.made.Add(1)
		return step()
	}
}

// alone is a step while which nobody else has the locks.
func alone(step func() error, locks ...*sync.Mutex) func() error {
	return func() error {
		for _, l := range locks {
			l.Lock()
			defer l.Unlock()
		}
		return step()
	}
}

// overtaken is how engines refuse a change since another commit came in between of what it read, which is their right; or came first
// each time that they tried to commit, of which delta-rs tells the number alone; or came while they listed the log of a local disk, which
// shows a commit and not always the one before it (delta-rs: found gap; Spark: not contiguous).
var overtaken = regexp.MustCompile(`Concurrent\w+Exception|(?i)concurrent transaction|conflict|Failed to commit transaction: \d+$|found gap|DELTA_VERSIONS_NOT_CONTIGUOUS`)

// insist makes a change that may be overtaken, as a user would: some times while all else goes on, and then at a quiet hour. It counts
// the vain attempts.
func insist(t *testing.T, busy, quiet func() error) (refused int) {
	t.Helper()
	for ; refused < 20; refused++ {
		change := busy
		if refused >= 5 {
			change = quiet
		}
		err := change()
		if err == nil {
			return refused
		}
		if !overtaken.MatchString(err.Error()) {
			t.Fatal(err)
		}
		t.Log(err)
	}
	t.Fatalf("refused %d times", refused)
	return refused
}

// compact compacts whatever is in the table, which nothing may make fail.
func (s *site) compact(t *testing.T) func() error {
	t.Helper()
	sluice := binary(t, "sluice")
	return func() error {
		if out, err := exec.Command(sluice, "compact", s.table, "--min-age", "0s", "--hurry").CombinedOutput(); err != nil {
			return fmt.Errorf("compact: %w\n%s", err, out)
		}
		return nil
	}
}

// checkBeside is check for a table to which another engine writes as well. Its rows have negative ids.
func (f feed) checkBeside(t *testing.T) {
	t.Helper()
	f.checkAudit(t, f.count())
	f.checkIDs(t, f.producer, 0)
	run(t, 0, "fsck", "--deep", f.table)
	last := newest(t, f.table)
	f.judge.add(versions(t, f.table, last/2, last))
}

// checkTheirs wants each row of the other engine once, with its text.
func (s *site) checkTheirs(t *testing.T, texts map[int64]string) {
	t.Helper()
	got, want := map[string]int{}, map[string]int{}
	scan(t, s.table, []string{"id", "text"}, func(rows arrow.Record) {
		for i, id := range rows.Column(0).(*array.Int64).Int64Values() {
			if id < 0 {
				got[fmt.Sprint(id, " ", rows.Column(1).ValueStr(i))]++
			}
		}
	})
	for id, text := range texts {
		want[fmt.Sprint(id, " ", text)] = 1
	}
	diff(t, "rows of the other engine", got, want)
}
