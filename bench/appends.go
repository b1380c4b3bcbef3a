package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// appends are so many appends of so many rows each.
type appends struct{ commits, rows int64 }

// deltalake is delta-rs' write_deltalake, a table object kept and the rows in memory as Arrow. The time is the median of an append.
func (b *bench) deltalake(a appends) contender {
	return b.appending("delta-rs write_deltalake", a, func(ctx context.Context, in input, out string) ([]string, error) {
		columns, err := duckdbColumns(eventColumns)
		return b.script("append_deltalake.py", in.folder, out, columns, strconv.FormatInt(a.rows, 10)), err
	})
}

// library is package table by itself, in the same way.
func (b *bench) library(a appends) contender {
	return b.appending("Sluice, table library", a, func(ctx context.Context, in input, out string) ([]string, error) {
		program, err := b.built(ctx, "append")
		return []string{program, in.folder, out, structOf(eventColumns)}, err
	})
}

// appending runs a program that prints the seconds of each append, and those of processor that all of them took.
func (b *bench) appending(name string, a appends, command func(ctx context.Context, in input, out string) ([]string, error)) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		in, err := b.input(ctx, shopEvents(), a.commits*a.rows, a.commits)
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
		var took struct {
			Wall []float64
			CPU  float64
		}
		if err := json.Unmarshal(got.stdout, &took); err != nil || int64(len(took.Wall)) != a.commits {
			return s, fmt.Errorf("%s: not the seconds of %d appends (%w): %s", argv[0], a.commits, err, got.stdout)
		}
		s.Wall, s.CPU, s.Records = median(took.Wall), took.CPU, in.records
		return s, nil
	}
	return contender{name: name, disk: true, run: run}
}
