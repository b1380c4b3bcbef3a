package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// duckdb is a COPY of the input's records to one Parquet file, or to a folder of them by partitions, with as many threads as cores.
func (b *bench) duckdb(w work) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		in, err := b.input(ctx, w.shape, w.records, w.files)
		if err != nil {
			return sample{}, err
		}
		columns, err := duckdbColumns(w.shape.columns)
		if err != nil {
			return sample{}, err
		}
		script := b.script("duckdb_copy.py", in.folder, out, columns, w.codec, strconv.Itoa(w.cores), strings.Join(w.shape.partitionBy, ","))
		s, _, err := runProcess(ctx, pinned(w.cores, script...))
		s.Records = w.records
		return s, err
	}
	return contender{name: "DuckDB COPY", disk: w.disk, run: run}
}

// duckdbColumns are columns in the form of read_json's parameter.
func duckdbColumns(columns []column) (string, error) {
	list, err := spellingOfDuckDB().columns(columns)
	return "{" + list + "}", err
}

// compareRows has DuckDB count and hash the rows that each contender left.
func (b *bench) compareRows(ctx context.Context, r row, folders []string) error {
	columns, err := duckdbColumns(r.columns)
	if err != nil {
		return err
	}
	_, got, err := runProcess(ctx, b.script("same_rows.py", append([]string{columns}, folders...)...))
	if err != nil {
		return err
	}
	var rows []struct {
		Count int64
		Hash  string
	}
	if err := json.Unmarshal(got.stdout, &rows); err != nil || len(rows) != len(folders) {
		return fmt.Errorf("same_rows.py: %d answers for %d folders (%w): %s", len(rows), len(folders), err, got.stdout)
	}
	for i, others := range rows {
		if others != rows[0] {
			return fmt.Errorf("%s and %s wrote different rows: %v and %v", r.contenders[0].name, r.contenders[i].name, rows[0], others)
		}
	}
	return nil
}
