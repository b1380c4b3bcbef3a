package proof

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicedata/sluice/internal/interop"
)

// changes are what another engine does to a table that blind appends survive; see testdata/readers/change_table.py.
var changes = []string{"append", "optimize", "delete", "add-column", "checkpoint"}

// besideEngine runs a test on a table of the local disk and on one in S3, to which a batch was committed and another engine
// can write.
func besideEngine(t *testing.T, test func(t *testing.T, f feed, engine *interop.Writer)) {
	readers := interop.Readers(t)
	j := newJudge(t)
	j.startS3(t)
	for _, name := range []string{"local", "s3"} {
		t.Run(name, func(t *testing.T) {
			at := places{}
			if name == "s3" {
				at.table = j.s3.place("notes")
			}
			f := j.filePerBatch(t, at)
			must(t, f.step)
			f.finish(t)
			test(t, f, readers.Writer(t, f.table))
		})
	}
	j.judge(t)
}

// checkBeside is check for a table to which another engine writes as well. Its rows have negative ids.
func (f feed) checkBeside(t *testing.T) {
	t.Helper()
	f.checkAudit(t, f.count())
	f.checkIDs(t, f.producer, 0)
	f.checkDisk(t)
	last := newest(t, f.table)
	f.judge.add(versions(t, f.table, last/2, last))
}

func TestAnotherEngineThatCommitsAllTheTimeStopsNoBatch(t *testing.T) {
	rounds := either(t, 3, 60)
	besideEngine(t, func(t *testing.T, f feed, engine *interop.Writer) {
		made, refused := map[string]int{}, map[string]int{}
		run, batches := f.start(t), 0
		for range rounds {
			for _, change := range changes {
				for range 3 {
					must(t, f.step)
					batches++
				}
				if _, err := engine.Change(change); err != nil {
					refused[change]++ // it read files that a batch came in between of, which is its right
					t.Log(err)
				} else {
					made[change]++
				}
			}
		}
		run.must(t, "msg=committed", batches)
		run.signal(syscall.SIGTERM)
		if code := run.wait(t); code != 0 {
			t.Errorf("exit %d:\n%s", code, run.stderr.text())
		}
		f.checkBeside(t)
		for _, change := range changes {
			if made[change] == 0 {
				t.Errorf("%s was never made", change)
			}
		}
		t.Logf("%d batches; made %v, refused by the engine %v", batches, made, refused)
	})
}

func TestAnotherEngineCommitsBetweenPlanAndCommit(t *testing.T) {
	besideEngine(t, func(t *testing.T, f feed, engine *interop.Writer) {
		for _, change := range changes {
			must(t, f.step)
			run, wake := f.stopBeforeCommit(t)
			theirs, err := engine.Change(change)
			must(t, func() error { return err })
			wake()
			if code := run.wait(t); code != 0 {
				t.Fatalf("%s: exit %d:\n%s", change, code, run.stderr.text())
			}
			if ours := committedVersion(t, run); change != "checkpoint" && ours <= theirs {
				t.Errorf("%s is version %d, and came after the batch's commit, version %d", change, theirs, ours)
			}
		}
		f.checkBeside(t)
	})
}

func TestBatchThatNoLongerFitsIsRefusedUntilItsPipelineFits(t *testing.T) {
	besideEngine(t, func(t *testing.T, f feed, engine *interop.Writer) {
		must(t, f.step)
		caught, wake := f.stopBeforeCommit(t)
		_, err := engine.Change("drop-column")
		must(t, func() error { return err })
		wake()
		if code := caught.wait(t); code != 1 {
			t.Fatalf("exit %d:\n%s", code, caught.stderr.text())
		}
		for _, refused := range []*process{caught, run(t, 1, "run", f.file)} {
			wants(t, refused, "column text", "the table has no such column; drop it from the rows, or add it to the table")
		}
		fewer, _, _ := strings.Cut(noteColumns, "\n  - {name: text")
		f.configure(t, pipelineName, fileSource, fewer, "", "batch: {max_files: 1}")
		f.finish(t)
		f.checkBeside(t)
	})
}

var versionOf = regexp.MustCompile(`msg=committed .*version=(\d+)`)

// committedVersion is the version of a process's only commit.
func committedVersion(t *testing.T, p *process) int64 {
	t.Helper()
	found := versionOf.FindAllStringSubmatch(p.stderr.text(), -1)
	if len(found) != 1 {
		t.Fatalf("%d commits, want one:\n%s", len(found), p.stderr.text())
	}
	version, err := strconv.ParseInt(found[0][1], 10, 64)
	must(t, func() error { return err })
	return version
}

// stopBeforeCommit runs the pipeline and returns when it has planned a batch and is about to commit it, where it stays
// until it is woken.
func (f feed) stopBeforeCommit(t *testing.T) (p *process, wake func()) {
	t.Helper()
	if isRemote(f.table) {
		p, held, wake := f.hold(t, func(r *http.Request) bool {
			return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/_delta_log/")
		})
		if !held {
			t.Fatalf("it ended before its commit:\n%s", p.stderr.text())
		}
		return p, wake
	}
	needStrace(t)
	data := strings.TrimPrefix(f.table, f.folder+"/") // the folder of data files, whose entries are made durable before the commit
	p, asleep := f.nap(t, instant{"after its data are published", "openat", data, 1})
	if !asleep {
		t.Fatalf("it ended before its commit:\n%s", p.stderr.text())
	}
	return p, func() { p.signal(syscall.SIGCONT) }
}
