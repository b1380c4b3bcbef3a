package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine is where the run was.
type machine struct {
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"`
	Kernel     string `json:"kernel"`
	Version    string `json:"version"` // of the program that was measured
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
}

func thisMachine(program string) machine {
	return machine{
		Processor: processor(), Cores: runtime.NumCPU(), Kernel: firstLine("uname", "-sr"),
		Version: firstLine(program, "version"), LoadBefore: load(),
	}
}

// processor is the first that the kernel names; a machine that names none gets its architecture.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo") // absent where there is no such file system
	for line := range strings.Lines(string(info)) {
		if name, found := strings.CutPrefix(line, "model name"); found {
			return strings.Trim(name, "\t :\n")
		}
	}
	return runtime.GOARCH
}

// load is the kernel's average number of processes that want a processor, over 1, 5 and 15 minutes.
func load() string {
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(average))[:3], " ")
}

func firstLine(command string, args ...string) string {
	out, err := exec.Command(command, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
