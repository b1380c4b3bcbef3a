package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

func (a *app) compactCommand() *cobra.Command {
	var (
		out      output
		where    string
		minAge   time.Duration
		maxBytes int64
		dry      bool
		order    ordering
	)
	cmd := &cobra.Command{
		Use: "compact PATH", Short: "Rewrite the small files of a table into larger ones, while others read and write it", Args: exactly("PATH"),
		Example: "  sluice compact lake/orders --dry-run\n  sluice compact lake/orders --where \"day >= 2026-01-01\"\n  sluice compact lake/orders --zorder-by customer,ordered_at",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if minAge < 0 || maxBytes < 0 {
				return usageError{fmt.Errorf("--min-age %s, --max-bytes %d: neither can be below 0", minAge, maxBytes)}
			}
			c := &compacting{app: a, options: compaction.Options{MinAge: minAge, MaxBytes: maxBytes, Now: time.Now()}, dry: dry}
			if err := order.apply(c, args[0]); err != nil {
				return err
			}
			if err := c.open(cmd.Context(), args[0], where); err != nil {
				return fmt.Errorf("compact table %s: %w", args[0], err)
			}
			return out.print(a.stdout, c.view, c.view.print)
		},
	}
	out.flag(cmd)
	cmd.Flags().StringVar(&where, "where", "", "condition on partition columns: only files of these partitions")
	cmd.Flags().DurationVar(&minAge, "min-age", 5*time.Minute, "leave alone what was written more recently")
	cmd.Flags().Int64Var(&maxBytes, "max-bytes", 0, "end with the group that reaches so many bytes; 0: no end")
	order.flags(cmd)
	a.hurryFlag(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be rewritten, and do nothing")
	return cmd
}

// compacting is one call of the verb.
type compacting struct {
	app     *app
	options compaction.Options
	table   table.Options
	dry     bool
	view    compactView
}

func (c *compacting) open(ctx context.Context, path, where string) error {
	store, err := openToChange(ctx, path, c.dry)
	if err != nil {
		return err
	}
	return c.run(ctx, store, path, where)
}

// openToChange opens a table's store; of a dry run nothing is asked beforehand.
func openToChange(ctx context.Context, path string, dry bool) (storage.Store, error) {
	if dry {
		return pipeline.OpenStore(path, version)
	}
	return pipeline.OpenStoreToWrite(ctx, path, version)
}

func (c *compacting) run(ctx context.Context, store storage.Store, path, where string) error {
	began := time.Now()
	c.table.EngineVersion = version
	t := table.New(store, c.table)
	s, err := t.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	if where != "" {
		if c.options.Where, err = s.Where(where); err != nil {
			return fmt.Errorf("--where %w", err)
		}
	}
	plan, err := compaction.NewPlan(ctx, s, c.options)
	if err != nil {
		return err
	}
	c.view = compactView{Path: path, Version: s.Version(), DryRun: c.dry, Young: plan.Young, Foreign: plan.Foreign, Groups: []groupView{}}
	if columns, clustering := plan.OrderedBy(); clustering {
		c.view.ClusterBy = columns
	} else {
		c.view.OrderBy = columns
	}
	var total int64
	for _, g := range plan.Groups {
		total += g.Bytes
	}
	if c.dry {
		for _, g := range plan.Groups {
			c.view.Groups = append(c.view.Groups, groupView{Partition: g.Partition, Files: len(g.Files), Bytes: g.Bytes})
		}
		return nil
	}
	if _, err := t.Sweep(ctx); err != nil {
		return err
	}
	line := c.app.progress()
	defer line.clear()
	rests := c.app.rests(t.Log(), s.Version(), began)
	defer func() { c.view.Rested = rests.seconds() }()
	return compaction.Run(ctx, s, plan, compaction.Events{
		Progress: func(group int, bytes int64) {
			line.show(fmt.Sprintf("group %d of %d  %s of %s", group+1, len(plan.Groups), size(bytes), size(total)))
			rests.rest(ctx)
		},
		Written: func(group int, rows int64) {
			line.show(fmt.Sprintf("group %d of %d  %d rows in order", group+1, len(plan.Groups), rows))
			rests.rest(ctx)
		},
		Done: func(d compaction.Done) {
			c.done(d)
			rests.committed(d.Committed.Version)
			rests.rest(ctx)
		},
	})
}

func (c *compacting) done(d compaction.Done) {
	v := groupView{Partition: d.Partition, Files: len(d.Files), Bytes: d.Bytes}
	if d.Conflict != nil {
		v.Conflict = d.Conflict.Error()
	} else {
		v.Into = &intoView{d.Committed.Version, d.Committed.Files, d.Committed.Bytes, d.Committed.Rows}
	}
	c.view.Groups = append(c.view.Groups, v)
}

type compactView struct {
	Path      string      `json:"path"`
	Version   int64       `json:"version"` // that was read
	DryRun    bool        `json:"dry_run"`
	OrderBy   []string    `json:"zorder_by,omitempty"`
	ClusterBy []string    `json:"cluster_by,omitempty"`
	Young     int         `json:"young_files"`
	Foreign   int         `json:"foreign_files,omitempty"` // that another implementation has clustered
	Groups    []groupView `json:"groups"`
	Rested    float64     `json:"rested_seconds"` // since others committed meanwhile
}

type groupView struct {
	Partition string    `json:"partition"`
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Into      *intoView `json:"into,omitempty"` // what has become of them
	Conflict  string    `json:"conflict,omitempty"`
}

type intoView struct {
	Version int64 `json:"version"`
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Rows    int64 `json:"rows"`
}

func (v *compactView) print(w io.Writer) {
	switch {
	case len(v.Groups) == 0 && len(v.OrderBy)+len(v.ClusterBy) > 0:
		fmt.Fprintf(w, "Nothing to rewrite: files are in the order of %s (--all rewrites them).\n", strings.Join(append(v.OrderBy, v.ClusterBy...), ", "))
	case len(v.Groups) == 0:
		fmt.Fprintln(w, "Nothing to rewrite: no small files that would become larger together.")
	default:
		row(w, "PARTITION", "FILES", "SIZE", "INTO", "SIZE", "ROWS", "VERSION")
	}
	for _, g := range v.Groups {
		partition := g.Partition
		if partition == "" {
			partition = "-"
		}
		switch {
		case g.Into != nil:
			row(w, partition, g.Files, size(g.Bytes), g.Into.Files, size(g.Into.Bytes), g.Into.Rows, g.Into.Version)
		case g.Conflict != "":
			row(w, partition, g.Files, size(g.Bytes), "left alone: "+g.Conflict)
		default:
			row(w, partition, g.Files, size(g.Bytes))
		}
	}
	if v.Rested > 0 {
		fmt.Fprintf(w, "Rested for %.1f s, since others committed to the table meanwhile (--hurry).\n", v.Rested)
	}
	if v.Young > 0 {
		fmt.Fprintf(w, "%d small files are too young, and were left alone (--min-age).\n", v.Young)
	}
	if v.Foreign > 0 {
		fmt.Fprintf(w, "%d files are clustered by another implementation, and were left alone (--all).\n", v.Foreign)
	}
}
