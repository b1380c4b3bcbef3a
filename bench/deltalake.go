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
	run := func(ctx context.Context, out string) (sample, error) {
		in, err := b.input(ctx, shopEvents(), a.commits*a.rows, a.commits)
		if err != nil {
			return sample{}, err
		}
		columns, err := duckdbColumns(eventColumns)
		if err != nil {
			return sample{}, err
		}
		s, got, err := runProcess(ctx, pinned(1, b.script("append_deltalake.py", in.folder, out, columns, strconv.FormatInt(a.rows, 10))...))
		if err != nil {
			return s, err
		}
		var seconds []float64
		if err := json.Unmarshal(got.stdout, &seconds); err != nil || len(seconds) == 0 {
			return s, fmt.Errorf("append_deltalake.py: not a list of seconds (%w): %s", err, got.stdout)
		}
		s.Wall, s.Records = median(seconds), in.records
		return s, nil
	}
	return contender{name: "delta-rs write_deltalake", disk: true, run: run}
}
