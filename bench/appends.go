package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// appends are so many appends of so many rows each. Of the first and the last few, if any, there are samples of their own: a table grows old.
type appends struct{ commits, rows, few int64 }

// parts is how many different inputs there are: behind the last, the first comes again.
func (a appends) parts() int64 { return min(a.commits, 100) }

// deltalake is delta-rs' write_deltalake, a table object kept and the rows in memory as Arrow. The time is the median of an append.
func (b *bench) deltalake(a appends) contender {
	return b.appending("delta-rs write_deltalake", a, func(ctx context.Context, in input, out string) ([]string, error) {
		columns, err := duckdbColumns(eventColumns)
		return b.script("append_deltalake.py", in.folder, out, columns, strconv.FormatInt(a.rows, 10), strconv.FormatInt(a.commits, 10)), err
	})
}

// library is package table by itself, in the same way.
func (b *bench) library(a appends) contender {
	return b.appending("Sluice, table library", a, func(ctx context.Context, in input, out string) ([]string, error) {
		program, err := b.built(ctx, "append")
		return []string{program, in.folder, out, structOf(eventColumns), strconv.FormatInt(a.commits, 10)}, err
	})
}

// appending runs a program that prints the seconds of each append, and those of processor.
func (b *bench) appending(name string, a appends, command func(ctx context.Context, in input, out string) ([]string, error)) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		in, err := b.input(ctx, shopEvents(), a.parts()*a.rows, a.parts())
		if err != nil {
			return sample{}, err
		}
		argv, err := command(ctx, in, out)
		if err != nil {
			return sample{}, err
		}
		s, got, err := runProcess(ctx, pinned(1, argv...))
		if err != nil {
			return s, err
		}
		var took took
		if err := json.Unmarshal(got.stdout, &took); err != nil || int64(len(took.Wall)) != a.commits || int64(len(took.CPU)) != a.commits {
			return s, fmt.Errorf("%s: not the seconds of %d appends (%w): %s", argv[0], a.commits, err, got.stdout)
		}
		rss := s.RSS
		s = took.sample(a, 0, a.commits)
		s.RSS = rss
		if a.few > 0 {
			s.also = []sample{took.sample(a, 0, a.few), took.sample(a, a.commits-a.few, a.commits)}
		}
		return s, nil
	}
	c := contender{name: name, disk: true, run: run}
	if a.few > 0 {
		c.also = []string{fmt.Sprintf("the same, first %d", a.few), fmt.Sprintf("the same, last %d", a.few)}
	}
	return c
}

// took is what each append took, in seconds.
type took struct{ Wall, CPU []float64 }

// sample is the median of the appends [from, to), and what they took of the processor together.
func (t took) sample(a appends, from, to int64) sample {
	s := sample{Wall: median(t.Wall[from:to]), Records: (to - from) * a.rows}
	for _, cpu := range t.CPU[from:to] {
		s.CPU += cpu
	}
	return s
}
