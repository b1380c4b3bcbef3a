package proof

import (
	"os"
	"runtime/debug"
	"syscall"
)

// maxrssBytes is in KiB on Linux (getrusage(2)).
func maxrssBytes(u *syscall.Rusage) int64 { return u.Maxrss * 1024 }

// forgetPeak makes this process small: its peak would count as that of a program that it starts (proc(5), clear_refs).
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o666) // a kernel that cannot leaves the peak too high, never too low
}
