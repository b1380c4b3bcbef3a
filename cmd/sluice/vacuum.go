package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

func (a *app) vacuumCommand() *cobra.Command {
	var (
		out     output
		options vacuum.Options
		dry     bool
	)
	cmd := &cobra.Command{
		Use: "vacuum PATH", Short: "Delete the files in a table's folder that no version within its retention needs", Args: exactly("PATH"),
		Long: `Delete the files in a table's folder that no version within its retention needs.

Versions that are older than the retention can not be read any more afterwards. The retention is the table's
delta.deletedFileRetentionDuration, 7 days by default.`,
		Example: "  sluice vacuum lake/orders --dry-run\n  sluice vacuum lake/orders --retention 720h",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			options.RetentionSet = cmd.Flags().Changed("retention")
			options.Now = time.Now()
			store, err := pipeline.OpenStore(args[0], version)
			if err != nil {
				return err
			}
			view, err := a.vacuum(cmd.Context(), store, args[0], options, dry)
			if err != nil {
				return fmt.Errorf("vacuum table %s: %w", args[0], err)
			}
			return out.print(a.stdout, view, view.print)
		},
	}
	out.flag(cmd)
	cmd.Flags().DurationVar(&options.Retention, "retention", 0, "for how long files stay after they were removed or written; the table's own by default")
	cmd.Flags().BoolVar(&options.Lite, "lite", false, "delete only what commits in the log tell to have been removed, and do not list the folder")
	cmd.Flags().BoolVar(&options.EvenIfInUse, "even-if-in-use", false, "allow a retention shorter than the table's: readers, and writers of other engines, may lose files under their hands")
	a.hurryFlag(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list what would be deleted, and do nothing")
	return cmd
}

func (a *app) vacuum(ctx context.Context, store storage.Store, path string, o vacuum.Options, dry bool) (*vacuumView, error) {
	began := time.Now()
	plan, err := vacuum.NewPlan(ctx, store, o)
	if err != nil {
		return nil, err
	}
	v := &vacuumView{Path: path, Lite: o.Lite, DryRun: dry, Before: plan.Before.UTC()}
	if dry {
		v.Files = []vacuumFile{}
		err = plan.Each(ctx, &v.found, func(files []vacuum.File) error {
			for _, f := range files {
				v.Files = append(v.Files, vacuumFile{f.Key, f.Size, f.Modified.UTC(), f.Use == vacuum.Orphan})
			}
			return nil
		})
	} else {
		err = a.delete(ctx, store, plan, v, a.rests(commitlog.New(store), plan.Version, began))
	}
	v.Version = plan.Version
	v.Removed, v.Orphans, v.Young, v.InWork = countView(v.found.Removed), countView(v.found.Orphans), countView(v.found.Young), countView(v.found.InWork)
	return v, err
}

func (a *app) delete(ctx context.Context, store storage.Store, plan *vacuum.Plan, v *vacuumView, rests *rests) error {
	var err error
	if v.Swept, err = table.New(store, table.Options{}).Sweep(ctx); err != nil {
		return err
	}
	line := a.progress()
	defer line.clear()
	found, err := plan.Run(ctx, func(f *vacuum.Found) {
		line.show(fmt.Sprintf("%s files deleted  %s", number(f.Removed.Files+f.Orphans.Files), size(f.Removed.Bytes+f.Orphans.Bytes)))
		rests.rest(ctx)
	})
	v.found = *found
	return err
}

type vacuumView struct {
	Path    string       `json:"path"`
	Version int64        `json:"version"` // the newest that was seen
	Lite    bool         `json:"lite"`
	DryRun  bool         `json:"dry_run"`
	Before  time.Time    `json:"before"` // what was removed or written later stays
	Removed countView    `json:"removed"`
	Orphans countView    `json:"orphans"`
	Young   countView    `json:"young"`
	InWork  countView    `json:"in_work"`
	Swept   int          `json:"swept"`          // what dead attempts had staged
	Files   []vacuumFile `json:"files,omitzero"` // of a dry run

	found vacuum.Found
}

type countView struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

type vacuumFile struct {
	Path     string    `json:"path"` // in the table's folder
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	Orphan   bool      `json:"orphan"`
}

func (v *vacuumView) print(w io.Writer) {
	done := "Deleted"
	if v.DryRun {
		done = "To be deleted:"
		for i, f := range v.Files {
			if i == 0 {
				row(w, "FILE", "SIZE", "MODIFIED", "WHY")
			}
			why := "removed"
			if f.Orphan {
				why = "orphan"
			}
			row(w, f.Path, size(f.Bytes), clock(f.Modified), why)
		}
	}
	fmt.Fprintf(w, "%s %s that were removed from the table before %s, and %s that no commit refers to.\n", done, v.Removed, clock(v.Before), v.Orphans)
	if v.Young.Files > 0 {
		fmt.Fprintf(w, "Left for their age: %s.\n", v.Young)
	}
	if v.InWork.Files > 0 {
		fmt.Fprintf(w, "Left, since they are being written or have become part of the table: %s.\n", v.InWork)
	}
}

func (c countView) String() string {
	return fmt.Sprintf("%s (%s)", several(c.Files, "file"), size(c.Bytes))
}
