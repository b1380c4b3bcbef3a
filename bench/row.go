package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// row is some work and those who do it, the first of whom the others are compared with.
type row struct {
	name       string // without parentheses
	means      string // what the columns of times and sizes tell where that is not the whole run
	needs      string // the reader, chdb or spark, without which the row is left out; "" for none besides DuckDB and delta-rs
	contenders []contender
	columns    []column // of the rows that each contender leaves in its folder; none: rows are not compared
}

// pair is two contenders that leave the same rows.
func pair(name string, columns []column, first, second contender) row {
	return row{name: name, columns: columns, contenders: []contender{first, second}}
}

// with is the row, left out where a reader is not installed.
func (r row) with(reader string) row {
	r.needs = reader
	return r
}

// meaning is the row, and what its columns tell.
func (r row) meaning(means string) row {
	r.means = means
	return r
}

// contender does a row's work.
type contender struct {
	name string
	also []string // names of further samples that the same run gives
	disk bool     // writes to a disk, not to memory
	run  func(ctx context.Context, out string) (sample, error)
}

// sample is one run of a contender.
type sample struct {
	Wall    float64 `json:"wall_seconds"`
	CPU     float64 `json:"cpu_seconds"` // user and system
	RSS     int64   `json:"peak_rss_bytes"`
	Records int64   `json:"records,omitempty"`
	Bytes   int64   `json:"output_bytes,omitempty"` // of Parquet files

	also []sample // further samples of the same run, as many as the contender names
}

// measure runs the rounds of a row. The rows that were written are compared in the first one, so that a difference is known early.
func (b *bench) measure(ctx context.Context, r row) (result, error) {
	out := result{Name: r.name, Means: r.means}
	if r.needs != "" {
		if out.LeftOut = b.lacks(ctx, r.needs); out.LeftOut != "" {
			fmt.Fprintf(os.Stderr, "%s: left out: %s\n", r.name, out.LeftOut)
			return out, nil
		}
	}
	for _, c := range r.contenders {
		for _, name := range append([]string{c.name}, c.also...) {
			out.Contenders = append(out.Contenders, samples{Name: name})
		}
	}
	for round := range b.rounds {
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", r.name, round+1, b.rounds)
		runs, err := b.round(ctx, r, round == 0)
		if err != nil {
			return out, err
		}
		for i, s := range runs {
			out.Contenders[i].Runs = append(out.Contenders[i].Runs, s)
		}
	}
	return out, nil
}

func (b *bench) round(ctx context.Context, r row, compare bool) (runs []sample, err error) {
	folders := make([]string, len(r.contenders))
	defer func() {
		for _, folder := range folders {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	for i, c := range r.contenders {
		place := b.memory
		if c.disk {
			place = b.work
		}
		if folders[i], err = os.MkdirTemp(place, "run-"); err != nil {
			return nil, err
		}
		s, err := c.run(ctx, folders[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if s.Bytes, err = parquetBytes(folders[i]); err != nil {
			return nil, err
		}
		if len(s.also) != len(c.also) {
			return nil, fmt.Errorf("%s: %d samples instead of %d", c.name, 1+len(s.also), 1+len(c.also))
		}
		runs = append(append(runs, s), s.also...)
	}
	if compare && len(r.columns) > 0 {
		err = b.compareRows(ctx, r, folders)
	}
	return runs, err
}

// lacks is why a reader cannot take part, "" if it can.
func (b *bench) lacks(ctx context.Context, reader string) string {
	if out, err := exec.CommandContext(ctx, b.installer(), "--check", reader).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s", out)
		return reader + " is not installed, which make readers does"
	}
	return ""
}

func parquetBytes(folder string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".parquet" {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
