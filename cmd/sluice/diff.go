package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

func (a *app) diffCommand() *cobra.Command {
	var (
		out  output
		rows bool
	)
	cmd := &cobra.Command{
		Use: "diff PATH FROM TO", Short: "Compare two versions of a table", Args: exactly("PATH", "FROM", "TO"),
		Long: `Compare two versions of a table by its log: files, rows, columns, properties, protocol, batches.

--rows prints rows as NDJSON instead: with - in front those of files that only FROM has, with + those of files that only TO has.
A row that was written anew into another file, as by compact or an update, is in both.`,
		Example: "  sluice table diff lake/orders 41 42\n  sluice table diff lake/orders 41 42 --rows",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if rows && out.form == "json" {
				return usageError{errors.New("--output json: with --rows, rows are printed as JSON anyway")}
			}
			from, err := versionArgument(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			to, err := versionArgument(cmd.Context(), args[0], args[2])
			if err != nil {
				return err
			}
			d, err := from.Diff(cmd.Context(), to)
			if err != nil {
				return fmt.Errorf("compare versions of table %s: %w", args[0], err)
			}
			if rows {
				return printRowsOf(cmd.Context(), a.stdout, from, to, d)
			}
			v := diffViewOf(args[0], d)
			return out.print(a.stdout, v, v.print)
		},
	}
	out.flag(cmd)
	cmd.Flags().BoolVar(&rows, "rows", false, "print the rows of the files that differ")
	return cmd
}

func versionArgument(ctx context.Context, path, text string) (*table.Snapshot, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, usageError{fmt.Errorf("%q is no version; write a number from 0 on", text)}
	}
	return openSnapshot(ctx, path, moment{version: n})
}

func printRowsOf(ctx context.Context, w io.Writer, from, to *table.Snapshot, d *table.Difference) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	print := func(s *table.Snapshot, files []table.File, sign string) error {
		for i := range files {
			if err := s.ScanFile(ctx, &files[i], ndjson(buffered, sign)); err != nil {
				return err
			}
		}
		return nil
	}
	err := print(from, d.Removed, "-")
	if err == nil {
		err = print(to, d.Added, "+")
	}
	return errors.Join(err, buffered.Flush())
}

type diffView struct {
	Path         string           `json:"path"`
	From         int64            `json:"from_version"`
	To           int64            `json:"to_version"`
	FilesAdded   []fileView       `json:"files_added"`
	FilesRemoved []fileView       `json:"files_removed"`
	RowsAdded    int64            `json:"rows_added"`   // -1: not all files tell
	RowsRemoved  int64            `json:"rows_removed"` // -1: not all files tell
	Columns      []columnDiffView `json:"columns"`
	Partitions   *partitionsView  `json:"partition_columns,omitempty"`
	Properties   []textDiffView   `json:"properties"`
	Protocol     *protocolsView   `json:"protocol,omitempty"`
	Batches      []batchDiffView  `json:"batches"`
	Domains      []textDiffView   `json:"domains"`
}

type columnDiffView struct {
	Name   string      `json:"name"`
	Before *columnView `json:"before"`
	After  *columnView `json:"after"`
}

type textDiffView struct {
	Name   string  `json:"name"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

type partitionsView struct {
	Before []string `json:"before"`
	After  []string `json:"after"`
}

type protocolsView struct {
	Before protocolView `json:"before"`
	After  protocolView `json:"after"`
}

type batchDiffView struct {
	App    string `json:"app"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

func diffViewOf(path string, d *table.Difference) *diffView {
	v := &diffView{
		Path: path, From: d.From, To: d.To, Columns: []columnDiffView{}, Batches: []batchDiffView{},
		Properties: textDiffViews(d.Properties), Domains: textDiffViews(d.Domains),
	}
	v.FilesAdded, v.RowsAdded = diffFiles(d.Added)
	v.FilesRemoved, v.RowsRemoved = diffFiles(d.Removed)
	for _, c := range d.Columns {
		v.Columns = append(v.Columns, columnDiffView{c.Name, columnViewOf(c.Before), columnViewOf(c.After)})
	}
	if p := d.Partitions; strings.Join(p[0], "\x00") != strings.Join(p[1], "\x00") {
		v.Partitions = &partitionsView{p[0], p[1]}
	}
	if p := d.Protocol; !p[0].Equal(p[1]) {
		v.Protocol = &protocolsView{protocolOf(p[0]), protocolOf(p[1])}
	}
	for _, b := range d.Apps {
		v.Batches = append(v.Batches, batchDiffView{b.App, b.Before, b.After})
	}
	return v
}

func textDiffViews(changes []table.TextChange) []textDiffView {
	views := []textDiffView{}
	for _, c := range changes {
		views = append(views, textDiffView{c.Name, c.Before, c.After})
	}
	return views
}

func diffFiles(files []table.File) (views []fileView, rows int64) {
	views = []fileView{}
	for i := range files {
		views = append(views, fileViewOf(&files[i]))
		rows = plus(rows, files[i].Rows)
	}
	return views, rows
}

func columnViewOf(f *schema.Field) *columnView {
	if f == nil {
		return nil
	}
	return &columnView{f.Name, f.Type.DDL(), f.Nullable}
}

func (v *diffView) print(w io.Writer) {
	row(w, "files", fmt.Sprintf("+%d -%d", len(v.FilesAdded), len(v.FilesRemoved)))
	row(w, "rows", fmt.Sprintf("+%s -%s", told(v.RowsAdded), told(v.RowsRemoved)))
	for _, c := range v.Columns {
		row(w, "column", c.Name, c.Before.text()+" → "+c.After.text())
	}
	if v.Partitions != nil {
		row(w, "partitioned by", fmt.Sprintf("%q → %q", v.Partitions.Before, v.Partitions.After))
	}
	for _, p := range v.Properties {
		row(w, "property", p.Name, textOr(p.Before)+" → "+textOr(p.After))
	}
	if v.Protocol != nil {
		row(w, "protocol", v.Protocol.Before.String()+" → "+v.Protocol.After.String())
	}
	for _, b := range v.Batches {
		row(w, "pipeline", b.App, fmt.Sprintf("batch %s → %s", known(b.Before), known(b.After)))
	}
	for _, d := range v.Domains {
		row(w, "domain", d.Name, textOr(d.Before)+" → "+textOr(d.After))
	}
	for _, f := range v.FilesRemoved {
		row(w, "- "+f.Path, told(f.Rows)+" rows", size(f.Bytes))
	}
	for _, f := range v.FilesAdded {
		row(w, "+ "+f.Path, told(f.Rows)+" rows", size(f.Bytes))
	}
}

func (c *columnView) text() string {
	switch {
	case c == nil:
		return "-"
	case !c.Nullable:
		return c.Type + " not null"
	}
	return c.Type
}

func textOr(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
