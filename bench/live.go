package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// service is a run of the program that goes on for ever.
type service struct {
	cmd   *exec.Cmd
	log   *json.Decoder
	began time.Time
}

// serve starts one. The caller kills it.
func (b *bench) serve(ctx context.Context, file string) (*service, error) {
	argv := pinned(1, b.program, "run", file, "--trigger", "continuous", "--log-format", "json")
	s := &service{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	s.log, s.began = json.NewDecoder(stderr), time.Now()
	return s, s.cmd.Start()
}

// untilCommit waits for the next commit and returns how long after the start it was.
func (s *service) untilCommit() (time.Duration, error) {
	for {
		var c commit
		if err := s.log.Decode(&c); err != nil {
			return 0, fmt.Errorf("the program's log ended without a commit: %w", err)
		}
		if c.Msg == "committed" {
			return time.Since(s.began), nil
		}
	}
}

// kill ends it with SIGKILL. An exit status says nothing then.
func (s *service) kill() sample {
	_ = s.cmd.Process.Kill() // it may have ended by itself, which the log has told
	_ = s.cmd.Wait()
	return ended(s.cmd, time.Since(s.began))
}

// starting is the time from the start of the process to its first commit, of records that wait in a topic; kills says how often it was
// started and killed before.
func (b *bench) starting(name string, records int64, kills int) contender {
	w := work{shape: shopEvents(), records: records * 10, codec: "snappy", cores: 1, batch: fmt.Sprintf("max_records: %d", records)}
	run := func(ctx context.Context, out string) (sample, error) {
		source, err := b.topic(ctx, w.records)
		if err != nil {
			return sample{}, err
		}
		file, err := w.pipeline(out, source)
		for range kills {
			if err == nil {
				_, err = b.toFirstCommit(ctx, file)
			}
		}
		if err != nil {
			return sample{}, err
		}
		return b.toFirstCommit(ctx, file)
	}
	return contender{name: name, disk: true, run: run}
}

func (b *bench) toFirstCommit(ctx context.Context, file string) (sample, error) {
	run, err := b.serve(ctx, file)
	if err != nil {
		return sample{}, err
	}
	took, err := run.untilCommit()
	s := run.kill()
	s.Wall = took.Seconds()
	return s, err
}

// idling is what the program takes while its topic has nothing new.
func (b *bench) idling(lasting time.Duration) contender {
	run := func(ctx context.Context, out string) (s sample, err error) {
		w := work{shape: shopEvents(), records: 1000, codec: "snappy", cores: 1}
		source, err := b.topic(ctx, w.records)
		if err != nil {
			return s, err
		}
		file, err := w.pipeline(out, source)
		if err != nil {
			return s, err
		}
		run, err := b.serve(ctx, file)
		if err != nil {
			return s, err
		}
		defer run.kill()
		if _, err := run.untilCommit(); err != nil {
			return s, err
		}
		before, err := accountOf(run.cmd.Process.Pid)
		if err != nil {
			return s, err
		}
		select {
		case <-time.After(lasting):
		case <-ctx.Done():
			return s, ctx.Err()
		}
		after, err := accountOf(run.cmd.Process.Pid)
		return sample{Wall: lasting.Seconds(), CPU: after.CPU - before.CPU, RSS: after.RSS}, err
	}
	return contender{name: "Sluice", disk: true, run: run}
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
