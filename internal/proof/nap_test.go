package proof

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	nth  int    // of such calls by any one thread
}

// nap runs the pipeline to the end of what is there, and has it stopped (SIGSTOP) in an operation. It returns when the
// process is asleep, or false when it has ended without that operation.
func (s *site) nap(t *testing.T, at instant) (p *process, asleep bool) {
	t.Helper()
	tracing := []string{"-D", "-f", "-e", "trace=" + at.call, "-e", fmt.Sprintf("inject=%s:signal=STOP:when=%d", at.call, at.nth)}
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
	past, waiting, future int
	instants              []instant
	operations            int // that one thread of the sleeper makes at most
}

var beds = []bed{
	{
		name: "new", waiting: 3, future: 122, operations: 120,
		instants: []instant{
			{"after the look at the table", "openat", "lake/notes/_delta_log", 1},
			{"after the look at the plans", "openat", "lake/notes/_sluice/proof/offsets", 1},
			{"after the put of its first plan", "linkat", "lake/notes/_sluice/proof/offsets/00000000000000000000", 1},
			{"after the put of version 0", "linkat", "lake/notes/_delta_log/00000000000000000000.json", 1},
		},
	},
	{
		name: "old", past: 118, waiting: 4, future: 2, operations: 290,
		instants: []instant{
			{"after the look for the dead", "openat", "lake/notes/_staging", 1},
			{"after the listing of the source", "openat", "landing", 1},
			{"before a file is read", "openat", "landing/000120.ndjson", 1},
			{"after its data are published", "openat", "lake/notes", 1},
			{"after its commit", "openat", "lake/notes/_delta_log", 2},
			{"while the source keeps", "openat", "lake/notes/_sluice/proof/seen", 2},
			{"while plans are pruned", "unlinkat", "lake/notes/_sluice/proof/offsets/00000000000000000007", 1},
		},
	},
}

func TestProcessThatSleepsAnywhereWakesUpToNoHarm(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("no strace to stop the program with: %v", err)
	}
	j := newJudge(t)
	t.Run("in", func(t *testing.T) {
		for _, b := range beds {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				past := j.aged(t, b.past)
				for _, at := range b.choose(t) {
					past.copy(t).sleepThrough(t, b, at)
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

// aged is the site of a pipeline of one file a batch, so many batches of which are committed.
func (j *judge) aged(t *testing.T, batches int) feed {
	t.Helper()
	f := j.filePerBatch(t, places{})
	for range batches {
		must(t, f.step)
	}
	if batches > 0 {
		f.finish(t)
	}
	return f
}

// filePerBatch is a pipeline whose batches are a file of ten notes each.
func (j *judge) filePerBatch(t *testing.T, at places) feed {
	t.Helper()
	source := fileSource
	if at.landing != "" {
		source = filesIn(at.landing)
	}
	s, p := j.siteAt(t, at, source, noteColumns, "", "batch: {max_files: 1}"), &producer{}
	return feed{s, p, func() error { return p.land(s.landing, 10) }}
}

// copy is the same site in another folder, times of files and all.
func (f feed) copy(t *testing.T) feed {
	t.Helper()
	twin := f.judge.filePerBatch(t, places{})
	for _, folder := range []string{f.landing, filepath.Dir(f.table)} {
		if _, err := os.Stat(folder); err != nil {
			continue // nothing has run yet
		}
		if out, err := exec.Command("cp", "-a", folder, twin.folder).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	twin.notes, twin.files = f.notes, f.files
	return twin
}

// requests are those to S3 after which a process is held by name.
var requests = []struct {
	name   string
	method string
	path   string // a part of it
}{
	{"at the look at the table", http.MethodGet, "/_delta_log/"},
	{"at the put of its plan", http.MethodPut, "/offsets/"},
	{"at the put of its data", http.MethodPut, ".parquet"},
	{"at the put of its commit", http.MethodPut, "/_delta_log/"},
}

func TestProcessThatIsHeldOnItsWayToS3ComesTooLateWithoutHarm(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			match := func(q *http.Request) bool { return q.Method == r.method && strings.Contains(q.URL.Path, r.path) }
			if !j.remote(t).comeLate(t, match) {
				t.Error("the process has not come there")
			}
		})
	}
	const most = 40 // requests of such a process
	for _, n := range choices(t).Perm(most)[:either(t, 2, most)] {
		t.Run(fmt.Sprintf("request %d", n), func(t *testing.T) {
			passed := 0
			j.remote(t).comeLate(t, func(*http.Request) bool { passed++; return passed > n })
		})
	}
	j.judge(t)
}

// remote is a pipeline all in S3 that has run two batches.
func (j *judge) remote(t *testing.T) feed {
	t.Helper()
	f := j.filePerBatch(t, places{landing: j.s3.place("landing"), table: j.s3.place("notes")})
	must(t, f.step)
	must(t, f.step)
	f.finish(t)
	return f
}

// comeLate holds a process at the first request that is matched while another one goes on; its requests arrive after that.
// It tells whether there was such a request.
func (f feed) comeLate(t *testing.T, match func(*http.Request) bool) (held bool) {
	t.Helper()
	must(t, f.step)
	must(t, f.step)
	late, held, wake := f.hold(t, match)
	must(t, f.step)
	f.finish(t)
	must(t, f.step) // so that the late one has something to plan
	wake()
	code := late.wait(t)
	if code != 0 && code != exitFenced {
		t.Errorf("exit %d:\n%s", code, late.stderr.text())
	}
	f.finish(t)
	f.check(t, f.producer)
	t.Logf("held %t, exit %d", held, code)
	return held
}
