// Package stopwatch measures a part of a program from inside: its time, and that of the processor.
package stopwatch

import (
	"syscall"
	"time"
)

// Watch is a moment. The zero value is none.
type Watch struct {
	wall time.Time
	cpu  time.Duration
}

// Start is now.
func Start() Watch { return Watch{time.Now(), processorTime()} }

// Wall are the seconds since the moment.
func (w Watch) Wall() float64 { return time.Since(w.wall).Seconds() }

// CPU are the seconds of user and system time that the process has taken since, on all cores.
func (w Watch) CPU() float64 { return (processorTime() - w.cpu).Seconds() }

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for a wrong pointer alone
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
