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
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			eachSource(t, func(t *testing.T, f feed) {
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
					checkDisk(t, f.table)
				}
				w.stop(t)
				f.finish(t)
				f.check(t, f.producer)
			})
		})
	}
}

func TestSecondSignalEndsTheRunAtOnce(t *testing.T) {
	// One batch of many partitions, each of whose files is made durable: long enough for a second signal to come in time.
	s := newSite(t, fileSource, "\n  - {name: k, type: string}\n  - {name: v, type: long}", ", partition_by: [k]")
	landPartitions(t, s.landing, 3000, 3000)
	p := s.start(t)
	p.must(t, "msg=planned", 1)
	p.signal(syscall.SIGTERM)
	p.must(t, "once more to stop at once", 1)
	p.signal(syscall.SIGTERM)
	// A run that had already ended when the second signal came has done no harm either.
	if code := p.wait(t); code != 128+int(syscall.SIGTERM) && code != 0 {
		t.Errorf("exit %d:\n%s", code, p.stderr.text())
	}
	s.finish(t)
	s.checkAudit(t, 3000)
	checkDisk(t, s.table)
}
