package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// work is records into a table.
type work struct {
	shape   shape
	records int64
	files   int64  // of the input
	codec   string // of the Parquet files: snappy or zstd
	compact bool   // encodings by difference; Sluice alone
	batch   string // limits of a batch, as a YAML mapping; "" for the defaults. Sluice alone
	keeps   string // maintenance beside the run, as a YAML mapping; "" for the default. Sluice alone
	cores   int
	disk    bool // the output is on a disk, not in memory
}

func (w work) toDisk() work {
	w.disk = true
	return w
}

// sluice is a run of the program over the input, until all is in the table.
func (b *bench) sluice(name string, w work) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		s, _, err := b.runSluice(ctx, w, out, "--log-level", "warn")
		return s, err
	}
	return contender{name: name, disk: w.disk, run: run}
}

// runSluice returns the program's log as well.
func (b *bench) runSluice(ctx context.Context, w work, out string, flags ...string) (sample, []byte, error) {
	in, err := b.input(ctx, w.shape, w.records, w.files)
	if err != nil {
		return sample{}, nil, err
	}
	return b.runPipeline(ctx, w, out, in.source(), flags...)
}

// source is the input as a pipeline file has it.
func (in input) source() string { return fmt.Sprintf("files: {path: '%s', settle: 0s}", in.folder) }

// runPipeline runs the program over a source, to the end of what is there.
func (b *bench) runPipeline(ctx context.Context, w work, out, source string, flags ...string) (sample, []byte, error) {
	file, err := w.pipeline(out, source)
	if err != nil {
		return sample{}, nil, err
	}
	s, got, err := runProcess(ctx, pinned(w.cores, append([]string{b.program, "run", file}, flags...)...))
	s.Records = w.records
	return s, got.stderr, err
}

// pipeline writes the pipeline's file into a folder, beside the table's, and returns its path.
func (w work) pipeline(folder, source string) (string, error) {
	var f strings.Builder
	fmt.Fprintf(&f, "name: bench\nsource: {%s}\ncolumns:\n", source)
	for _, c := range w.shape.columns {
		fmt.Fprintf(&f, "  - {name: %s, type: '%s'}\n", c.name, c.ddl)
	}
	properties := "delta.parquet.compression.codec: " + w.codec
	if w.compact {
		properties += ", sluice.parquet.encoding: compact"
	}
	fmt.Fprintf(&f, "table: {path: table, properties: {%s}", properties)
	if len(w.shape.partitionBy) > 0 {
		fmt.Fprintf(&f, ", partition_by: [%s]", strings.Join(w.shape.partitionBy, ", "))
	}
	f.WriteString("}\n")
	if w.batch != "" {
		fmt.Fprintf(&f, "batch: {%s}\n", w.batch)
	}
	if w.keeps != "" {
		fmt.Fprintf(&f, "maintenance: {%s}\n", w.keeps)
	}
	path := filepath.Join(folder, "pipeline.yaml")
	return path, os.WriteFile(path, []byte(f.String()), 0o666)
}
