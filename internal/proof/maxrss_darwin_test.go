package proof

import "syscall"

// maxrssBytes is in bytes on macOS (getrusage(2)).
func maxrssBytes(u *syscall.Rusage) int64 { return u.Maxrss }
