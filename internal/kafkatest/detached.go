package kafkatest

import "syscall"

// detached keeps a signal to the tests, such as an interrupt on the terminal, from the guard.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
