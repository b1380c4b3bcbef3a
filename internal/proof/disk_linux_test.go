package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicedata/sluice/offsetlog"
)

// diskFaults are the system calls by which a run changes its disk, and the errors that they get.
var diskFaults = []struct {
	call, errno string
	says        string // of a run that ends with it
}{
	{"write", "ENOSPC", "no space left on device"},
	{"write", "EIO", "input/output error"},
	{"fsync", "ENOSPC", "no space left on device"},
	{"fsync", "EIO", "input/output error"},
	{"linkat", "ENOSPC", "no space left on device"},
	{"linkat", "EIO", "input/output error"},
	{"mkdirat", "ENOSPC", "no space left on device"},
	{"mkdirat", "EIO", "input/output error"},
	{"unlinkat", "EIO", "input/output error"},
	{"close", "EIO", "input/output error"},
}

// remedies are what an error of a disk says to do, by what it is called.
var remedies = map[string]string{
	"no space left on device": "free space on the disk that holds",
	"input/output error":      "what is wrong with the disk that holds",
}

// TestDiskThatFailsAtASystemCallLosesNothing fails the n-th system call of a kind in a whole run, and runs again.
func TestDiskThatFailsAtASystemCallLosesNothing(t *testing.T) {
	t.Parallel()
	needStrace(t)
	j := newJudge(t)
	r := choices(t)
	ended := map[int]int{}
	for _, fault := range diskFaults {
		whole, _ := traceable(t, j)
		p, calls := whole.traced(t, fault.call)
		if len(calls) == 0 {
			t.Fatalf("no call of %s:\n%s", fault.call, p.stderr.text())
		}
		points := r.Perm(len(calls))
		for _, n := range points[:either(t, min(2, len(points)), len(points))] {
			s, notes := traceable(t, j)
			p, calls := s.traced(t, fault.call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", fault.call, fault.errno, n+1))
			injected := slices.DeleteFunc(calls, func(line string) bool { return !strings.Contains(line, "(INJECTED)") })
			code := p.wait(t)
			ended[code]++
			// What was to be cleared up is left to the next start. A thread of its own may have failed to write the message.
			if code != 0 && !strings.Contains(strings.Join(injected, "\n"), "write(2<") {
				wants(t, p, fault.says, remedies[fault.says])
			}
			if code > 1 {
				t.Errorf("exit %d", code)
			}
			s.checkWhole(t)
			s.finish(t)
			s.check(t, notes)
			if t.Failed() {
				t.Fatalf("after %s of call %d of %s: %s\n%s", fault.errno, n+1, fault.call, injected, p.stderr.text())
			}
		}
	}
	t.Logf("%d runs failed, %d did not need what failed", ended[1], ended[0])
	j.judge(t)
}

// needStrace skips the test where a process cannot be traced.
func needStrace(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-qq", "-e", "trace=write", "-e", "inject=write:error=EIO:when=1000", "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot be run here: %v\n%s", err, out)
	}
}

// traceable is a pipeline whose run is over two batches, with a quarantine table and folders of partitions.
func traceable(t *testing.T, j *judge) (*site, *producer) {
	t.Helper()
	s := j.site(t, fileSource, noteColumns, ", partition_by: [part]", "on_error: quarantine", "batch: {max_files: 1}")
	p := &producer{badEvery: 2}
	for range 2 {
		must(t, func() error { return p.land(s.landing, 3) })
	}
	return s, p
}

// traced runs the pipeline to its end under strace, and returns its calls of a kind. strace counts calls by thread: with one
// processor there is hardly more than one thread that writes.
func (s *site) traced(t *testing.T, call string, options ...string) (p *process, calls []string) {
	t.Helper()
	trace := filepath.Join(s.folder, "trace")
	args := append([]string{"-f", "-qq", "-y", "-e", "signal=none", "-o", trace, "-E", "GOMAXPROCS=1", "-e", "trace=" + call}, options...)
	p = launch(t, "strace", append(args, binary(t, "sluice"), "run", s.file, "--trigger", "available-now", "--log-level", "error")...)
	p.wait(t)
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return p, tracedCall.FindAllString(string(text), -1)
}

var tracedCall = regexp.MustCompile(`(?m)^\d+ +[a-z]+\(.*$`)

// checkWhole wants no part of a plan or a commit under its name.
func (s *site) checkWhole(t *testing.T) {
	t.Helper()
	for _, name := range s.plans(t) {
		if _, err := offsetlog.Decode(content(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, table := range []string{s.table, s.quarantine()} {
		for _, name := range names(t, filepath.Join(table, "_delta_log", "*")) {
			text := content(t, name)
			lines, whole := strings.CutSuffix(string(text), "\n")
			for line := range strings.SplitSeq(lines, "\n") {
				whole = whole && json.Valid([]byte(line))
			}
			if !whole {
				t.Errorf("%s is torn: %q", name, text)
			}
		}
	}
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// memoryDisk mounts a small file system in memory, or skips the test.
func memoryDisk(t *testing.T, folder, size string) {
	t.Helper()
	must(t, func() error { return os.MkdirAll(folder, 0o777) })
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { must(t, func() error { return syscall.Unmount(folder, syscall.MNT_DETACH) }) })
}

func remount(t *testing.T, folder string, flags uintptr, options string) {
	t.Helper()
	must(t, func() error { return syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT|flags, options) })
}

func TestFullDiskStopsTheRunUntilThereIsSpace(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, ", partition_by: [part]", "on_error: quarantine", "batch: {max_files: 4}")
	lake := filepath.Dir(s.table)
	memoryDisk(t, lake, "300k")
	p := &producer{badEvery: 50}
	for range 40 {
		must(t, func() error { return p.land(s.landing, 100) })
	}
	// It fails wherever the space ends, and again from the start, where even less can be written.
	for range 3 {
		full := run(t, 1, "run", s.file)
		wants(t, full, "no space left on device; free space on the disk that holds "+lake)
		s.checkWhole(t)
	}
	remount(t, lake, 0, "size=64m")
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}

func TestReadOnlyFileSystemStopsTheRunUntilItIsMountedForWriting(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, "", "checkpoint: checkpoint")
	lake := filepath.Dir(s.table)
	memoryDisk(t, lake, "16m")
	p := &producer{}
	must(t, func() error { return p.land(s.landing, 100) })
	s.finish(t)
	must(t, func() error { return p.land(s.landing, 100) })
	remount(t, lake, syscall.MS_RDONLY, "")
	wants(t, run(t, 1, "run", s.file), "read-only file system; mount the file system that holds "+s.table+" for writing")
	run(t, 0, "status", s.file)
	s.checkAudit(t, 100)
	remount(t, lake, 0, "")
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}
