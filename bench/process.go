package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pinned is the command line that runs another on the first cores of the machine.
func pinned(cores int, argv ...string) []string {
	return pinnedTo(fmt.Sprintf("0-%d", cores-1), argv...)
}

func pinnedTo(cores string, argv ...string) []string {
	return append([]string{"taskset", "--cpu-list", cores}, argv...)
}

// printed is what a process printed.
type printed struct{ stdout, stderr []byte }

// runProcess runs a command to its end. What it complained of is in the error when it fails.
func runProcess(ctx context.Context, argv []string) (sample, printed, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, printed{}, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, stderr.Bytes())
	}
	return ended(cmd, time.Since(begin)), printed{stdout.Bytes(), stderr.Bytes()}, nil
}

// ended is the sample of a process that has ended.
func ended(cmd *exec.Cmd, wall time.Duration) sample {
	s := sample{Wall: wall.Seconds(), CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.RSS = usage.Maxrss * 1024 // getrusage(2): KiB on Linux, the only system with a taskset
	}
	return s
}

// built is one of the benchmark's own programs. Go makes it anew only when it has changed.
func (b *bench) built(ctx context.Context, name string) (string, error) {
	program := filepath.Join(b.memory, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./bench/"+name)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return program, nil
}
