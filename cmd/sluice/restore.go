package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

func (a *app) restoreCommand() *cobra.Command {
	var (
		out output
		c   restoring
	)
	cmd := &cobra.Command{
		Use: "restore PATH (--version N | --at TIME)", Short: "Make a table what it was at an earlier version, by one more commit", Args: exactly("PATH"),
		Long: `Make a table what it was at an earlier version: files that have come since are removed from the table, those that have gone are
added again, and schema and properties are those of then. It is one commit; nothing is deleted, and it can itself be undone by
another restore.

A pipeline does not go back with its table: its batches count as committed, and its next run goes on behind the newest of them.`,
		Example: "  sluice table restore lake/orders --version 41 --dry-run\n  sluice table restore lake/orders --at 2026-11-29T21:00:00Z",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if c.to.at == "" && c.to.version < 0 {
				return usageError{fmt.Errorf("restore table %s: write --version N or --at TIME", args[0])}
			}
			if err := c.run(cmd.Context(), args[0]); err != nil {
				return fmt.Errorf("restore table %s: %w", args[0], err)
			}
			return out.print(a.stdout, c.view, c.view.print)
		},
	}
	out.flag(cmd)
	c.to.flags(cmd)
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "show what would be done, and do nothing")
	cmd.Flags().BoolVar(&c.unchecked, "no-check", false, "do not ask the store whether the files that are added again are still there")
	return cmd
}

// restoring is one call of the verb.
type restoring struct {
	to             moment
	dry, unchecked bool
	view           restoreView
}

func (c *restoring) run(ctx context.Context, path string) error {
	store, err := c.open(ctx, path)
	if err != nil {
		return err
	}
	t := table.New(store, table.Options{EngineVersion: version})
	to, err := c.to.snapshot(ctx, t)
	if err != nil {
		return err
	}
	r, err := t.PlanRestore(ctx, to)
	if err != nil {
		return err
	}
	if c.to.at != "" {
		r.Parameters = map[string]any{"timestamp": c.to.at}
	}
	if !c.unchecked {
		if err := r.Check(ctx, to); err != nil {
			return err
		}
	}
	c.view = restoreView{Path: path, From: r.From, To: r.To, DryRun: c.dry, Version: r.From, Changed: !r.Nothing(), Metadata: r.Commit.Metadata != nil, Metrics: r.Metrics()}
	if c.dry || r.Nothing() {
		return nil
	}
	c.view.Version, err = r.Put(ctx)
	return err
}

func (c *restoring) open(ctx context.Context, path string) (storage.Store, error) {
	if c.dry {
		return pipeline.OpenStore(path, version)
	}
	return pipeline.OpenStoreToWrite(ctx, path, version)
}

type restoreView struct {
	Path     string            `json:"path"`
	From     int64             `json:"from_version"` // the newest one before
	To       int64             `json:"restored_version"`
	Version  int64             `json:"version"` // of the table now
	DryRun   bool              `json:"dry_run"`
	Changed  bool              `json:"changed"`
	Metadata bool              `json:"metadata_changed"`
	Metrics  map[string]string `json:"metrics"`
}

func (v *restoreView) print(w io.Writer) {
	switch {
	case !v.Changed:
		fmt.Fprintf(w, "version %d is as version %d: nothing to do\n", v.From, v.To)
		return
	case v.DryRun:
		fmt.Fprintf(w, "would restore version %d over version %d\n", v.To, v.From)
	default:
		fmt.Fprintf(w, "restored version %d as version %d\n", v.To, v.Version)
	}
	fmt.Fprintf(w, "files: %s added again, %s removed, %s in the table\n", v.Metrics["numRestoredFiles"], v.Metrics["numRemovedFiles"], v.Metrics["numOfFilesAfterRestore"])
	if v.Metadata {
		fmt.Fprintln(w, "schema, partitioning or properties are those of then")
	}
}
