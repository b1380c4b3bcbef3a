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

// The run is held in its commit, which it would finish after the first signal.
func TestSecondSignalEndsTheRunAtOnce(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	f := j.filePerBatch(t, places{table: j.s3.place("notes")})
	must(t, f.step)
	run, wake := f.holdCommit(t)
	run.signal(syscall.SIGINT)
	run.must(t, "once more to stop at once", 1)
	run.signal(syscall.SIGTERM)
	if code := run.wait(t); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit %d:\n%s", code, run.stderr.text())
	}
	wake()
	f.finish(t)
	f.check(t, f.producer)
	j.judge(t)
}
