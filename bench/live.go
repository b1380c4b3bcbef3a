package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// service is a run of the program that goes on for ever.
type service struct {
	cmd    *exec.Cmd
	stderr io.Reader
	log    *json.Decoder
	began  time.Time
}

// serve starts one. The caller kills it.
func (b *bench) serve(ctx context.Context, file string) (*service, error) {
	argv := pinned(1, b.program, "run", file, "--trigger", "continuous", "--log-format", "json", "--log-level", "debug")
	s := &service{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	s.stderr, s.log, s.began = stderr, json.NewDecoder(stderr), time.Now()
	return s, s.cmd.Start()
}

// until waits for the program to say so, and returns how long after the start it did.
func (s *service) until(says string) (time.Duration, error) {
	for {
		var said struct{ Msg string }
		if err := s.log.Decode(&said); err != nil {
			return 0, fmt.Errorf("the program's log ended before %q: %w", says, err)
		}
		if said.Msg == says {
			return time.Since(s.began), nil
		}
	}
}

// unheard has the program say what it likes from now on.
func (s *service) unheard() {
	go func() { _, _ = io.Copy(io.Discard, s.stderr) }() // ends with the program
}

// kill ends it with SIGKILL. An exit status says nothing then.
func (s *service) kill() sample {
	_ = s.cmd.Process.Kill() // it may have ended by itself, which the log has told
	_ = s.cmd.Wait()
	return ended(s.cmd, time.Since(s.began))
}

// feed is some work and the source that it comes from, as a pipeline file has it.
type feed func(ctx context.Context) (w work, source string, err error)

// waitingTopic has so many records a batch, ten times.
func (b *bench) waitingTopic(records int64) feed {
	return func(ctx context.Context) (work, string, error) {
		w := work{shape: shopEvents(), records: records * 10, codec: "snappy", cores: 1, batch: fmt.Sprintf("max_records: %d", records)}
		t, err := b.topic(ctx, w.records)
		return w, t.source(), err
	}
}

// waitingFolder has ten files of so many records, each of which is a batch.
func (b *bench) waitingFolder(records int64) feed {
	return func(ctx context.Context) (work, string, error) {
		w := work{shape: shopEvents(), records: records * 10, files: 10, codec: "snappy", cores: 1, batch: "max_files: 1"}
		in, err := b.input(ctx, w.shape, w.records, w.files)
		return w, in.source(), err
	}
}

// starting is the time from the start of the process until it says something; kills says how often it was started and killed before, each
// time behind its first commit.
func (b *bench) starting(name string, waits feed, says string, kills int) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		w, source, err := waits(ctx)
		if err != nil {
			return sample{}, err
		}
		file, err := w.pipeline(out, source)
		for range kills {
			if err == nil {
				_, err = b.startUntil(ctx, file, "committed")
			}
		}
		if err != nil {
			return sample{}, err
		}
		return b.startUntil(ctx, file, says)
	}
	return contender{name: name, disk: true, run: run}
}

func (b *bench) startUntil(ctx context.Context, file, says string) (sample, error) {
	run, err := b.serve(ctx, file)
	if err != nil {
		return sample{}, err
	}
	took, err := run.until(says)
	s := run.kill()
	s.Wall = took.Seconds()
	return s, err
}

// idling is what the program takes while its source has nothing new.
func (b *bench) idling(name string, lasting time.Duration, has feed) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		w, source, err := has(ctx)
		if err != nil {
			return sample{}, err
		}
		return b.waiting(ctx, w, out, source, func() error {
			select {
			case <-time.After(lasting):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	return contender{name: name, disk: true, run: run}
}

// waiting is what the program takes while something else goes on, once it has read all that its source has.
func (b *bench) waiting(ctx context.Context, w work, out, source string, goesOn func() error) (sample, error) {
	file, err := w.pipeline(out, source)
	if err != nil {
		return sample{}, err
	}
	run, err := b.serve(ctx, file)
	if err != nil {
		return sample{}, err
	}
	defer run.kill()
	if _, err := run.until("waiting for records"); err != nil {
		return sample{}, err
	}
	run.unheard()
	return run.during(goesOn)
}

// during is what the program takes while something else goes on. Its memory is that at the end.
func (s *service) during(goesOn func() error) (sample, error) {
	before, err := accountOf(s.cmd.Process.Pid)
	if err != nil {
		return sample{}, err
	}
	begun := time.Now()
	if err := goesOn(); err != nil {
		return sample{}, err
	}
	after, err := accountOf(s.cmd.Process.Pid)
	return sample{Wall: time.Since(begun).Seconds(), CPU: after.CPU - before.CPU, RSS: after.RSS}, err
}

// accountOf is the processor time and the memory of a process that runs (proc(5)).
func accountOf(pid int) (sample, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return sample{}, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the program's name
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return sample{}, fmt.Errorf("/proc/%d/stat: too few fields: %s", pid, stat)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	pages, err3 := strconv.ParseInt(fields[21], 10, 64)
	const ticks = 100 // a second, on every Linux that Go runs on
	return sample{CPU: float64(user+system) / ticks, RSS: pages * int64(os.Getpagesize())}, errors.Join(err1, err2, err3)
}
