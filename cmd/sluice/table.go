package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

func (a *app) tableCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "table", Short: "Look into a Delta table, make one, or change it", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(
		a.snapshotCommand("show PATH", "Show what a table is: version, size, partitioning, properties", showTable),
		a.snapshotCommand("schema PATH", "Show the columns of a table", showSchema),
		a.snapshotCommand("files PATH", "List the data files of a version", showFiles),
		a.historyCommand(),
		a.scanCommand(),
		a.checkpointCommand(),
		a.cleanupCommand(),
		a.diffCommand(),
		a.createCommand(),
		a.setCommand(),
		a.clusterByCommand(),
		a.restoreCommand(),
	)
	return cmd
}

// openTable opens the table at a local path or an s3:// URL for reading.
func openTable(path string) (*table.Table, error) {
	store, err := pipeline.OpenStore(path, version)
	if err != nil {
		return nil, err
	}
	return table.New(store, table.Options{EngineVersion: version}), nil
}

// snapshotCommand makes a verb that shows something of one version.
func (a *app) snapshotCommand(use, short string, show func(ctx context.Context, path string, s *table.Snapshot) (document any, people func(io.Writer), err error)) *cobra.Command {
	var (
		out output
		at  moment
	)
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			s, err := openSnapshot(cmd.Context(), args[0], at)
			if err != nil {
				return err
			}
			document, people, err := show(cmd.Context(), args[0], s)
			if err != nil {
				return err
			}
			return out.print(a.stdout, document, people)
		},
	}
	out.flag(cmd)
	at.flags(cmd)
	return cmd
}

type tableView struct {
	Path              string            `json:"path"`
	ID                string            `json:"id"`
	Version           int64             `json:"version"`
	Protocol          protocolView      `json:"protocol"`
	Files             int               `json:"files"`
	Bytes             int64             `json:"bytes"`
	Rows              int64             `json:"rows"` // -1: not all files tell
	PartitionColumns  []string          `json:"partition_columns"`
	ClusteringColumns []string          `json:"clustering_columns"`
	Columns           []columnView      `json:"columns"`
	Properties        map[string]string `json:"properties"`
	Pipelines         []appView         `json:"pipelines"`
}

type protocolView struct {
	Reader         int      `json:"min_reader_version"`
	Writer         int      `json:"min_writer_version"`
	ReaderFeatures []string `json:"reader_features,omitempty"`
	WriterFeatures []string `json:"writer_features,omitempty"`
}

func (v protocolView) String() string {
	text := fmt.Sprintf("reader %d, writer %d", v.Reader, v.Writer)
	if len(v.WriterFeatures) > 0 {
		text += " (" + strings.Join(v.WriterFeatures, ", ") + ")"
	}
	return text
}

type appView struct {
	App     string `json:"app"`
	Batch   int64  `json:"batch"`
	Version int64  `json:"version"`
}

// batch does not name a version that only a log checkpoint tells of.
func (v appView) batch() string {
	if v.Version < 0 {
		return fmt.Sprintf("batch %d", v.Batch)
	}
	return fmt.Sprintf("batch %d (version %d)", v.Batch, v.Version)
}

type columnView struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

func showTable(ctx context.Context, path string, s *table.Snapshot) (any, func(io.Writer), error) {
	state := s.State()
	clustering, err := s.ClusteringColumns()
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.Rows(ctx)
	if err != nil {
		return nil, nil, err
	}
	v := &tableView{
		Path: path, ID: s.ID(), Version: s.Version(), Protocol: protocolOf(state.Protocol), Files: state.Files.Len(), Bytes: state.Files.Bytes(), Rows: rows,
		PartitionColumns: append([]string{}, s.PartitionColumns()...), ClusteringColumns: table.SQLNames(clustering), Columns: columnViews(s.Schema()), Properties: s.Properties(), Pipelines: []appView{},
	}
	for id, app := range state.Apps {
		v.Pipelines = append(v.Pipelines, appView{id, app.Batch, app.Version})
	}
	slices.SortFunc(v.Pipelines, func(a, b appView) int { return cmp.Compare(a.App, b.App) })
	return v, v.print, nil
}

func (v *tableView) print(w io.Writer) {
	row(w, "path", v.Path)
	row(w, "id", v.ID)
	row(w, "version", v.Version)
	row(w, "protocol", v.Protocol)
	row(w, "rows", known(v.Rows))
	row(w, "files", v.Files)
	row(w, "size", size(v.Bytes))
	row(w, "partitioned by", cmp.Or(strings.Join(v.PartitionColumns, ", "), "-"))
	if len(v.ClusteringColumns) > 0 {
		row(w, "clustered by", strings.Join(v.ClusteringColumns, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(v.Properties)) {
		row(w, "property", key+" = "+v.Properties[key])
	}
	for _, p := range v.Pipelines {
		row(w, "pipeline", p.App+", "+p.batch())
	}
	fmt.Fprintln(w)
	printColumns(w, v.Columns)
}

func columnViews(t *schema.Type) []columnView {
	views := make([]columnView, len(t.Fields))
	for i, f := range t.Fields {
		views[i] = columnView{f.Name, f.Type.DDL(), f.Nullable}
	}
	return views
}

func printColumns(w io.Writer, columns []columnView) {
	row(w, "COLUMN", "TYPE", "NULL")
	for _, c := range columns {
		null := "yes"
		if !c.Nullable {
			null = "no"
		}
		row(w, c.Name, c.Type, null)
	}
}

func showSchema(_ context.Context, _ string, s *table.Snapshot) (any, func(io.Writer), error) {
	columns := columnViews(s.Schema())
	document := map[string]any{"version": s.Version(), "columns": columns, "delta_schema": json.RawMessage(s.Schema().JSON())}
	return document, func(w io.Writer) { printColumns(w, columns) }, nil
}

type fileView struct {
	Path      string             `json:"path"`
	Partition map[string]*string `json:"partition_values"`
	Rows      int64              `json:"rows"`
	Bytes     int64              `json:"bytes"`
	Modified  time.Time          `json:"modified"`
}

func fileViewOf(f *table.File) fileView {
	return fileView{f.Path, f.Values, f.Rows, f.Size, f.Modified.UTC()}
}

func showFiles(ctx context.Context, _ string, s *table.Snapshot) (any, func(io.Writer), error) {
	views := []fileView{}
	for f, err := range s.Files(ctx) {
		if err != nil {
			return nil, nil, err
		}
		views = append(views, fileViewOf(&f))
	}
	document := map[string]any{"version": s.Version(), "files": views}
	return document, func(w io.Writer) {
		row(w, "PATH", "ROWS", "BYTES", "MODIFIED")
		for _, f := range views {
			row(w, f.Path, known(f.Rows), f.Bytes, clock(f.Modified))
		}
	}, nil
}
