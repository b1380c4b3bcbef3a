package proof

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitStop waits until a child of this process is stopped as a whole, or has ended (waitid(2)).
func awaitStop(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD): // has ended, and been waited for
			return nil
		default:
			return err
		}
	}
}
