package proof

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func TestSignalledUnderLoadTheRunEndsCleanly(t *testing.T) {
	j := newJudge(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			eachSource(t, j, func(t *testing.T, f feed) {
				r := choices(t)
				w := repeat(t, 5*time.Millisecond, f.step)
				for range 4 {
					p := f.start(t)
					f.awaitInstant(p, r)
					p.must(t, "pipeline=", 1) // signals are taken from before the first line on
					p.signal(signal)
					if code := p.wait(t); code != 0 {
						t.Fatalf("exit %d:\n%s", code, p.stderr.text())
					}
					wants(t, p, "stopping; once more to stop at once", "msg=done")
					f.checkDisk(t)
				}
				w.stop(t)
				f.finish(t)
				f.check(t, f.producer)
			})
		})
	}
	j.judge(t)
}

func TestSecondSignalEndsTheRunAtOnce(t *testing.T) {
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, "")
	p := &producer{}
	must(t, func() error { return p.land(s.landing, 1000) })
	// Both signals wait for a process that is stopped, so that it finds the second one before it has obeyed the first.
	run := s.start(t)
	run.must(t, "msg=planned", 1)
	run.stop(t)
	run.signal(syscall.SIGINT)
	run.signal(syscall.SIGTERM)
	run.signal(syscall.SIGCONT)
	if code := run.wait(t); code != 128+int(syscall.SIGINT) && code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit %d:\n%s", code, run.stderr.text())
	}
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}
