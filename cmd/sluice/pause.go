package main

import (
	"runtime"
	"runtime/debug"
	"time"
)

// longPause is how long a run waits for records before it gives back memory that it might need again. The runtime itself does
// so minutes later.
const longPause = 5 * time.Second

// pause is a time in which a run has nothing to do. The zero value is none.
type pause struct {
	since time.Time
	long  bool
}

// goesOn is called while there is nothing to do. It tells, once each, that the pause begins and that it has become long.
func (p *pause) goesOn(now time.Time) (begins, becomesLong bool) {
	if p.since.IsZero() {
		p.since, begins = now, true
	}
	if !p.long && now.Sub(p.since) >= longPause {
		p.long, becomesLong = true, true
	}
	return begins, becomesLong
}

// giveBack returns to the system what memory is free. That is collected twice, since what lies in a sync.Pool lives through one collection.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
}
