package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// libraryOpens is opening and listing by package table. The times are without those of the process' start.
func (b *bench) libraryOpens(g given, files int64) contender {
	return b.opening("Sluice, table library", g, files, func(ctx context.Context, table string) ([]string, error) {
		program, err := b.built(ctx, "open")
		return []string{program, table}, err
	})
}

func (b *bench) deltalakeOpens(g given, files int64) contender {
	return b.opening("delta-rs", g, files, func(_ context.Context, table string) ([]string, error) {
		return b.script("open_table.py", "deltalake", table), nil
	})
}

func (b *bench) duckdbOpens(g given, files int64) contender {
	return b.opening("DuckDB delta_list_files", g, files, func(_ context.Context, table string) ([]string, error) {
		return b.script("open_table.py", "duckdb", table), nil
	})
}

func (b *bench) opening(name string, g given, files int64, command func(ctx context.Context, table string) ([]string, error)) contender {
	return b.onto(g, contender{name: name, run: func(ctx context.Context, out string) (sample, error) {
		argv, err := command(ctx, filepath.Join(out, "table"))
		if err != nil {
			return sample{}, err
		}
		s, got, err := runProcess(ctx, pinned(1, argv...))
		if err != nil {
			return s, err
		}
		var opened struct {
			Wall, CPU float64
			Files     int64
		}
		if err := json.Unmarshal(got.stdout, &opened); err != nil || opened.Files != files {
			return s, fmt.Errorf("%s: not the opening of %d files (%w): %s", argv[0], files, err, got.stdout)
		}
		s.Wall, s.CPU = opened.Wall, opened.CPU
		return s, nil
	}})
}

// shows is the program's own verb, its start included.
func (b *bench) shows(g given) contender {
	return b.onto(g, contender{name: "sluice table show", run: func(ctx context.Context, out string) (sample, error) {
		s, _, err := runProcess(ctx, pinned(1, b.program, "table", "show", filepath.Join(out, "table")))
		return s, err
	}})
}

// openings are logs of many files that are opened and listed.
func (b *bench) openings(most int64) []row {
	tenth := most / 10
	var rows []row
	for _, log := range []struct {
		name  string
		given given
		files int64
	}{
		{"open: commits", b.logOf(tenth, false), tenth},
		{"open: log checkpoint", b.logOf(tenth, true), tenth},
		{"open: large log checkpoint", b.logOf(most, true), most},
	} {
		rows = append(rows, row{
			name: log.name, means: fmt.Sprintf("%d files; times: of opening and listing, of sluice the whole process", log.files),
			contenders: []contender{
				b.libraryOpens(log.given, log.files), b.deltalakeOpens(log.given, log.files), b.duckdbOpens(log.given, log.files), b.shows(log.given),
			},
		})
	}
	return rows
}

// appendsByFiles is the same append into tables of ever more files.
func (b *bench) appendsByFiles(most int64, a appends) row {
	r := row{name: "growth: files of a table that is appended to", means: "wall: median of an append; CPU: of all appends, without opening the table; RSS: of the whole run"}
	for _, files := range []int64{most / 100, most / 10, most} {
		c := b.onto(b.logOf(files, true), b.library(a))
		c.name = fmt.Sprintf("Sluice, table library, %d files", files)
		r.contenders = append(r.contenders, c)
	}
	return r
}
