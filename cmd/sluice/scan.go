package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/table"
)

func (a *app) scanCommand() *cobra.Command {
	var (
		at  moment
		out output
	)
	c := &scanning{app: a}
	cmd := &cobra.Command{
		Use: "scan PATH", Short: "Print the rows of a table as NDJSON, or write them to one Parquet file", Args: exactly("PATH"),
		Example: "  sluice table scan lake/orders --columns id,amount --limit 10\n  sluice table scan lake/orders --where \"day >= '2026-11-01' and country in ('NL', 'BE')\"\n" +
			"  sluice table scan lake/orders --version 3 --out orders.parquet",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if c.options.Limit < 0 {
				return usageError{fmt.Errorf("--limit %d: write a number above 0, or 0 for all rows", c.options.Limit)}
			}
			if out.form == "json" && c.out == "" {
				return usageError{errors.New("--output json: rows are printed as JSON anyway; it is for what --out tells of the file")}
			}
			s, err := openSnapshot(cmd.Context(), args[0], at)
			if err != nil {
				return err
			}
			if err := c.run(cmd.Context(), s); err != nil {
				return fmt.Errorf("scan table %s: %w", args[0], err)
			}
			if out.form == "json" {
				return out.print(a.stdout, c.view(args[0], s), nil)
			}
			c.tell()
			return nil
		},
	}
	out.flag(cmd)
	at.flags(cmd)
	cmd.Flags().StringSliceVar(&c.options.Columns, "columns", nil, "columns, in the order wanted (default: all)")
	cmd.Flags().StringVar(&c.where, "where", "", "condition that the rows fulfil; files that cannot hold such a row are not read")
	cmd.Flags().Int64Var(&c.options.Limit, "limit", 0, "most rows; 0: all")
	cmd.Flags().StringVar(&c.out, "out", "", "write one Parquet file in place of NDJSON on stdout")
	return cmd
}

// scanning is one call of the verb.
type scanning struct {
	app     *app
	options table.ScanOptions
	where   string
	out     string
	counts  table.ScanCounts
}

func (c *scanning) run(ctx context.Context, s *table.Snapshot) (err error) {
	c.options.Counts = &c.counts
	if c.where != "" {
		if c.options.Where, err = s.Where(c.where); err != nil {
			return fmt.Errorf("--where %w", err)
		}
	}
	if c.out == "" {
		return scanTo(ctx, s, c.options, c.app.stdout)
	}
	return scanToFile(ctx, s, c.options, c.out)
}

type scanView struct {
	Path         string `json:"path"`
	Version      int64  `json:"version"`
	Out          string `json:"out"`
	Rows         int64  `json:"rows"`
	FilesRead    int    `json:"files_read"`
	FilesSkipped int    `json:"files_skipped"`
}

func (c *scanning) view(path string, s *table.Snapshot) scanView {
	return scanView{path, s.Version(), c.out, c.counts.Rows, c.counts.Read, c.counts.Skipped}
}

// tell says on stderr what was done, beyond rows on stdout.
func (c *scanning) tell() {
	if c.out != "" {
		fmt.Fprintf(c.app.stderr, "wrote %s rows to %s\n", number(c.counts.Rows), c.out)
	}
	if c.where != "" {
		fmt.Fprintf(c.app.stderr, "%s rows; read %d files, skipped %d\n", number(c.counts.Rows), c.counts.Read, c.counts.Skipped)
	}
}

// scanTo writes rows as NDJSON.
func scanTo(ctx context.Context, s *table.Snapshot, options table.ScanOptions, w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	err := s.Scan(ctx, options, ndjson(buffered, ""))
	return errors.Join(err, buffered.Flush())
}

// ndjson writes rows as NDJSON, each behind a prefix.
func ndjson(w io.Writer, prefix string) func(arrow.Record) error {
	var line []byte
	return func(rows arrow.Record) error {
		for i := range int(rows.NumRows()) {
			line = append(json.AppendRow(append(line[:0], prefix...), rows, i), '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	}
}

// scanToFile writes a Parquet file, which gets its name only when it is whole.
func scanToFile(ctx context.Context, s *table.Snapshot, options table.ScanOptions, name string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".sluice-scan-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = s.Export(ctx, options, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
