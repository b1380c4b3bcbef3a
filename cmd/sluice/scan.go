package main

import (
	"bufio"
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
		at      int64
		options table.ScanOptions
		out     string
	)
	cmd := &cobra.Command{
		Use: "scan PATH", Short: "Print the rows of a table as NDJSON, or write them to one Parquet file", Args: exactly("PATH"),
		Example: "  sluice table scan lake/orders --columns id,amount --limit 10\n  sluice table scan lake/orders --version 3 --out orders.parquet",
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.Limit < 0 {
				return usageError{fmt.Errorf("--limit %d: write a number above 0, or 0 for all rows", options.Limit)}
			}
			s, err := openSnapshot(cmd.Context(), args[0], at)
			if err != nil {
				return err
			}
			if out == "" {
				err = scanTo(cmd, s, options, a.stdout)
			} else {
				err = a.scanToFile(cmd, s, options, out)
			}
			if err != nil {
				return fmt.Errorf("scan table %s: %w", args[0], err)
			}
			return nil
		},
	}
	versionFlag(cmd, &at)
	cmd.Flags().StringSliceVar(&options.Columns, "columns", nil, "columns, in the order wanted (default: all)")
	cmd.Flags().Int64Var(&options.Limit, "limit", 0, "most rows; 0: all")
	cmd.Flags().StringVar(&out, "out", "", "write one Parquet file in place of NDJSON on stdout")
	return cmd
}

// scanTo writes rows as NDJSON.
func scanTo(cmd *cobra.Command, s *table.Snapshot, options table.ScanOptions, w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	err := s.Scan(cmd.Context(), options, func(rows arrow.Record) error {
		for i := range int(rows.NumRows()) {
			line = append(json.AppendRow(line[:0], rows, i), '\n')
			if _, err := buffered.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, buffered.Flush())
}

// scanToFile writes a Parquet file, which gets its name only when it is whole.
func (a *app) scanToFile(cmd *cobra.Command, s *table.Snapshot, options table.ScanOptions, name string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".sluice-scan-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	rows, err := s.Export(cmd.Context(), options, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "wrote %s rows to %s\n", number(rows), name)
	return nil
}
