package proof

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicedata/sluice/internal/interop"
)

func TestAnotherEngineCommitsBetweenPlanAndCommit(t *testing.T) {
	besideDeltaRS(t, func(t *testing.T, f feed, engine *interop.Writer) {
		for _, change := range []string{"append", "optimize", "delete", "add-column", "checkpoint"} {
			must(t, f.step)
			run, wake := f.stopBeforeCommit(t)
			theirs, err := engine.Change(change)
			must(t, func() error { return err })
			wake()
			if code := run.wait(t); code != 0 {
				t.Fatalf("%s: exit %d:\n%s", change, code, run.stderr.text())
			}
			if ours := committedVersion(t, run); change != "checkpoint" && ours <= theirs.Version {
				t.Errorf("%s is version %d, and came after the batch's commit, version %d", change, theirs.Version, ours)
			}
		}
		f.checkBeside(t)
		f.checkDisk(t)
	})
}

func TestBatchThatNoLongerFitsIsRefusedUntilItsPipelineFits(t *testing.T) {
	besideDeltaRS(t, func(t *testing.T, f feed, engine *interop.Writer) {
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
		f.checkDisk(t)
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
		return f.holdCommit(t)
	}
	needStrace(t)
	data := strings.TrimPrefix(f.table, f.folder+"/") // the folder of data files, whose entries are made durable before the commit
	p, asleep := f.nap(t, instant{"after its data are published", "openat", data, 1})
	if !asleep {
		t.Fatalf("it ended before its commit:\n%s", p.stderr.text())
	}
	return p, func() { p.signal(syscall.SIGCONT) }
}
