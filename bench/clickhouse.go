package main

import (
	"context"
	"strconv"
)

// clickhouse is an insert of the input's records into one Parquet file, with as many threads as cores.
func (b *bench) clickhouse(w work) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		in, err := b.input(ctx, w.shape, w.records, w.files)
		if err != nil {
			return sample{}, err
		}
		columns, err := spellingOfClickHouse().columns(w.shape.columns)
		if err != nil {
			return sample{}, err
		}
		s, _, err := runProcess(ctx, pinned(w.cores, b.script("clickhouse_insert.py", in.folder, out, columns, w.codec, strconv.Itoa(w.cores))...))
		s.Records = w.records
		return s, err
	}
	return contender{name: "ClickHouse (chdb)", disk: w.disk, run: run}
}
