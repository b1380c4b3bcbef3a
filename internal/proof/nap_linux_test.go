package proof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// fileOperations are the system calls by which the program changes a local disk or looks at it.
const fileOperations = "openat,mkdirat,linkat,unlinkat,fsync,flock"

// instant is one of the program's file operations.
type instant struct {
	name string
	call string // one of fileOperations, or all of them
	path string // below the site's folder; any when empty
	nth  int    // of such calls by any one thread; with one processor most are made by one
}

// nap runs the pipeline to the end of what is there, and has it stopped (SIGSTOP) in an operation. It returns when the
// process is asleep, or false when it has ended without that operation.
func (s *site) nap(t *testing.T, at instant) (p *process, asleep bool) {
	t.Helper()
	tracing := []string{"-D", "-f", "-E", "GOMAXPROCS=1", "-e", "trace=" + at.call, "-e", fmt.Sprintf("inject=%s:signal=STOP:when=%d", at.call, at.nth)}
	if at.path != "" {
		tracing = append(tracing, "-P", filepath.Join(s.folder, at.path))
	}
	p = launch(t, "strace", append(tracing, binary(t, "sluice"), "run", s.file, "--trigger", "available-now", "--log-level", "debug")...)
	if !p.await("--- stopped by SIGSTOP ---", 1, patience) {
		return p, false
	}
	// Without its tracer the process stays stopped, and is not stopped again.
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(t, func() error { return err })
	tracer, err := strconv.Atoi(tracerLine.FindStringSubmatch(string(status))[1])
	must(t, func() error { return err })
	must(t, func() error { return syscall.Kill(tracer, syscall.SIGKILL) })
	return p, true
}

var tracerLine = regexp.MustCompile(`TracerPid:\s+(\d+)`)

// bed is a kind of site to fall asleep at: how many batches there were before the sleeper's first, how many wait for it,
// and how many more the second process commits meanwhile.
type bed struct {
	name                  string
	keys                  []string // of the pipeline's file
	badEvery              int64
	past, waiting, future int
	instants              []instant
	operations            int // that one thread of the sleeper makes at most
}

var beds = []bed{
	{
		name: "new", waiting: 3, future: 122, operations: 80,
		instants: []instant{
			{"after the look at the table", "openat", "lake/notes/_delta_log", 1},
			{"after the look at the plans", "openat", "lake/notes/_sluice/proof/offsets", 1},
			{"after the put of its first plan", "linkat", "lake/notes/_sluice/proof/offsets/00000000000000000000", 1},
			{"after the put of version 0", "linkat", "lake/notes/_delta_log/00000000000000000000.json", 1},
		},
	},
	{
		name: "old", past: 118, waiting: 4, future: 2, operations: 240,
		instants: []instant{
			{"after the look for the dead", "openat", "lake/notes/_staging", 1},
			{"after the listing of the source", "openat", "landing", 1},
			{"before a file is read", "openat", "landing/000120.ndjson", 1},
			{"after its data are published", "openat", "lake/notes", 1},
			{"after its commit", "linkat", "lake/notes/_delta_log/00000000000000000119.json", 1},
			{"while the source keeps", "linkat", "lake/notes/_sluice/proof/seen/000000-00000000000000000000-00000000000000000020.seen", 1},
			{"while plans are pruned", "unlinkat", "lake/notes/_sluice/proof/offsets/00000000000000000007", 1},
		},
	},
	{
		name: "bad records", keys: []string{"on_error: quarantine"}, badEvery: 7, past: 1, waiting: 2, future: 2, operations: 80,
		instants: []instant{
			{"after the data of bad records are published", "openat", "lake/notes_quarantine", 1},
			{"after the commit of bad records", "linkat", "lake/notes_quarantine/_delta_log/00000000000000000001.json", 1},
		},
	},
}

func TestProcessThatSleepsAnywhereWakesUpToNoHarm(t *testing.T) {
	needStrace(t)
	j := newJudge(t)
	t.Run("in", func(t *testing.T) {
		for _, b := range beds {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				past := b.lay(t, j)
				for _, at := range b.choose(t) {
					b.copy(t, past).sleepThrough(t, b, at)
				}
			})
		}
	})
	j.judge(t)
}

// choose are the named instants and a few operations, or under make chaos each.
func (b bed) choose(t *testing.T) []instant {
	r := choices(t)
	numbers := r.Perm(b.operations)[:either(t, 2, b.operations)]
	all := slices.Clone(b.instants)
	for _, n := range numbers {
		all = append(all, instant{fmt.Sprintf("operation %d", n+1), fileOperations, "", n + 1})
	}
	return all
}

// sleepThrough stops a process, lets another one go on meanwhile, and wakes it up.
func (f feed) sleepThrough(t *testing.T, b bed, at instant) {
	t.Helper()
	for range b.waiting {
		must(t, f.step)
	}
	sleeper, asleep := f.nap(t, at)
	if !asleep && at.path != "" {
		t.Errorf("%s: the process has not come there:\n%s", at.name, sleeper.stderr.text())
	}
	for range b.future {
		must(t, f.step)
	}
	f.finish(t)
	must(t, f.step) // so that the sleeper has something to plan
	sleeper.signal(syscall.SIGCONT)
	code := sleeper.wait(t)
	if code != 0 && code != exitFenced {
		t.Errorf("%s: exit %d:\n%s", at.name, code, sleeper.stderr.text())
	}
	f.finish(t)
	f.check(t, f.producer)
	t.Logf("%s: asleep %t, exit %d", at.name, asleep, code)
}

// site is an empty one of the bed's kind.
func (b bed) site(t *testing.T, j *judge) feed {
	t.Helper()
	f := j.filePerBatch(t, places{}, b.keys...)
	f.badEvery = b.badEvery
	return f
}

// lay is a site with a past.
func (b bed) lay(t *testing.T, j *judge) feed {
	t.Helper()
	f := b.site(t, j)
	for range b.past {
		must(t, f.step)
	}
	if b.past > 0 {
		f.finish(t)
	}
	return f
}

// copy is a site with the same past in another folder, times of files and all.
func (b bed) copy(t *testing.T, past feed) feed {
	t.Helper()
	twin := b.site(t, past.judge)
	for _, folder := range []string{past.landing, filepath.Dir(past.table)} {
		if _, err := os.Stat(folder); err != nil {
			continue // nothing has run yet
		}
		if out, err := exec.Command("cp", "-a", folder, twin.folder).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	twin.notes, twin.bad, twin.files = past.notes, past.bad, past.files
	return twin
}
