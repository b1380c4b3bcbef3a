package proof

import "syscall"

// maxrssBytes is in KiB on Linux (getrusage(2)).
func maxrssBytes(u *syscall.Rusage) int64 { return u.Maxrss * 1024 }
