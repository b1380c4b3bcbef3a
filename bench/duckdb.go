package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/schema"
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
	items := make([]string, len(columns))
	for i, c := range columns {
		t, err := schema.ParseDDL(c.ddl)
		if err != nil {
			return "", err
		}
		name, err := duckdbType(t)
		if err != nil {
			return "", fmt.Errorf("column %s: %w", c.name, err)
		}
		items[i] = fmt.Sprintf("'%s': '%s'", c.name, name)
	}
	return "{" + strings.Join(items, ", ") + "}", nil
}

// duckdbType is a type in DuckDB's spelling. Times go without a zone, which is less work for DuckDB.
func duckdbType(t *schema.Type) (string, error) {
	switch t.Kind {
	case schema.Boolean:
		return "BOOLEAN", nil
	case schema.Integer:
		return "INTEGER", nil
	case schema.Long:
		return "BIGINT", nil
	case schema.Double:
		return "DOUBLE", nil
	case schema.String:
		return "VARCHAR", nil
	case schema.Timestamp:
		return "TIMESTAMP", nil
	case schema.Array:
		elem, err := duckdbType(t.Elem)
		return elem + "[]", err
	case schema.Struct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			of, err := duckdbType(f.Type)
			if err != nil {
				return "", err
			}
			fields[i] = f.Name + " " + of
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")", nil
	default:
		return "", fmt.Errorf("no spelling of %s for DuckDB: give it one here", t)
	}
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
