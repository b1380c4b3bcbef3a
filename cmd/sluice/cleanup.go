package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
)

func (a *app) cleanupCommand() *cobra.Command {
	var (
		out    output
		dry    bool
		forget []string
	)
	cmd := &cobra.Command{
		Use: "cleanup PATH", Short: "Delete what of a table's log is older than its retention and stands before a log checkpoint", Args: exactly("PATH"),
		Long: `Delete what of a table's log is older than its retention and stands before a log checkpoint.

Versions that are older can not be read any more afterwards, and an audit or a history begins later. The retention is the table's
delta.logRetentionDuration, 30 days by default, and no less than delta.deletedFileRetentionDuration. The newest commit of a pipeline stays,
and so do all behind it, unless the pipeline is to be forgotten.`,
		Example: "  sluice table cleanup lake/orders --dry-run\n  sluice table cleanup lake/orders --forget old-orders",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			store, err := pipeline.OpenStore(args[0], version)
			if err != nil {
				return err
			}
			view, err := a.cleanup(cmd.Context(), store, args[0], forget, dry)
			if err != nil {
				return fmt.Errorf("clean up the log of table %s: %w", args[0], err)
			}
			return out.print(a.stdout, view, view.print)
		},
	}
	out.flag(cmd)
	a.hurryFlag(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list what would be deleted, and do nothing")
	cmd.Flags().StringArrayVar(&forget, "forget", nil, "name of a pipeline that will not run again, so that its newest commit need not stay; may be repeated")
	return cmd
}

func (a *app) cleanup(ctx context.Context, store storage.Store, path string, forget []string, dry bool) (*cleanupView, error) {
	began, log := time.Now(), commitlog.New(store)
	plan, err := log.PlanCleanup(ctx, commitlog.CleanupOptions{Now: time.Now(), Needs: func(app, userMetadata string) bool {
		return !slices.Contains(forget, app) && pipeline.NeedsCommit(app, userMetadata)
	}})
	if err != nil {
		return nil, err
	}
	if err := knownApps(log.Head().Apps, forget); err != nil {
		return nil, err
	}
	v := &cleanupView{Path: path, DryRun: dry, Before: plan.Before, From: plan.From, Why: plan.Why, Holders: []holderView{}}
	for _, h := range plan.Holders {
		v.Holders = append(v.Holders, holderView{h.AppID, h.Batch, h.Version, h.LastUpdated})
	}
	if dry {
		err = v.list(ctx, plan)
	} else {
		line := newProgressLine(a.stderr)
		defer line.clear()
		rests := a.rests(log, log.Head().Version, began)
		v.cleaned, err = plan.Run(ctx, func(done commitlog.Cleaned) {
			line.show(fmt.Sprintf("%s commits deleted", number(done[commitlog.CommitFile].Files)))
			rests.rest(ctx)
		})
	}
	v.Damaged = append([]string{}, plan.Damaged...)
	v.Deleted = map[commitlog.LogFileKind]countView{}
	for kind, n := range v.cleaned {
		v.Deleted[kind] = countView(n)
	}
	return v, err
}

// knownApps refuses names of pipelines that have committed nothing.
func knownApps(apps map[string]commitlog.App, names []string) error {
	for _, name := range names {
		if _, known := apps[name]; !known {
			return usageError{fmt.Errorf("--forget %s: no such pipeline has committed to the table; leave it out, or name one of %q", name, slices.Sorted(maps.Keys(apps)))}
		}
	}
	return nil
}

func (v *cleanupView) list(ctx context.Context, plan *commitlog.Cleanup) error {
	v.Files, v.cleaned = []logFileView{}, commitlog.Cleaned{}
	return plan.Each(ctx, func(files []commitlog.LogFile) error {
		for _, f := range files {
			v.Files = append(v.Files, logFileView{f.Key, f.Kind, f.Size, f.Modified.UTC()})
			v.cleaned.Add(f)
		}
		return nil
	})
}

type cleanupView struct {
	Path    string                              `json:"path"`
	DryRun  bool                                `json:"dry_run"`
	Before  time.Time                           `json:"before"`        // commits that were made later stay
	From    int64                               `json:"from_version"`  // the oldest that can be read afterwards; -1: nothing was deleted
	Why     string                              `json:"why,omitempty"` // nothing was deleted
	Deleted map[commitlog.LogFileKind]countView `json:"deleted"`
	Holders []holderView                        `json:"needed_by"`
	Damaged []string                            `json:"damaged_checkpoints"`
	Files   []logFileView                       `json:"files,omitzero"` // of a dry run

	cleaned commitlog.Cleaned
}

type holderView struct {
	App         string    `json:"app"`
	Batch       int64     `json:"batch"`
	Version     int64     `json:"version"`
	LastUpdated time.Time `json:"last_updated"`
}

type logFileView struct {
	Path     string                `json:"path"` // in the table's folder
	Kind     commitlog.LogFileKind `json:"kind"`
	Bytes    int64                 `json:"bytes"`
	Modified time.Time             `json:"modified"`
}

func (v *cleanupView) print(w io.Writer) {
	done := "Deleted"
	if v.DryRun {
		done = "To be deleted:"
		for i, f := range v.Files {
			if i == 0 {
				row(w, "FILE", "KIND", "SIZE", "MODIFIED")
			}
			row(w, f.Path, f.Kind, size(f.Bytes), clock(f.Modified))
		}
	}
	switch {
	case v.Why != "":
		fmt.Fprintf(w, "Nothing before %s was deleted: %s.\n", clock(v.Before), v.Why)
	case len(v.Deleted) == 0:
		fmt.Fprintf(w, "There is nothing to delete: the oldest version that can be read is %d.\n", v.From)
	default:
		fmt.Fprintf(w, "%s %s. The oldest version that can be read is %d.\n", done, v.count(), v.From)
	}
	for _, h := range v.Holders {
		fmt.Fprintf(w, "Version %d stays, with all behind it, though it is from before %s: it has batch %d, the newest of pipeline %s. If that will not run again: --forget %[4]s\n",
			h.Version, clock(v.Before), h.Batch, h.App)
	}
	for _, key := range v.Damaged {
		fmt.Fprintf(w, "Log checkpoint %s cannot be read; see sluice fsck.\n", key)
	}
}

// summary tells it in a line.
func (v *cleanupView) summary() string {
	switch {
	case v.Why != "":
		return "nothing: " + v.Why
	case len(v.Deleted) == 0:
		return "nothing has expired"
	case v.DryRun:
		return v.count() + " to be deleted"
	}
	return "deleted " + v.count()
}

// count tells how much was deleted, and of what.
func (v *cleanupView) count() string {
	var other countView
	for kind, n := range v.Deleted {
		if kind != commitlog.CommitFile {
			other.Files += n.Files
			other.Bytes += n.Bytes
		}
	}
	commits := v.Deleted[commitlog.CommitFile]
	return fmt.Sprintf("%s commits (%s), and %s besides", number(commits.Files), size(commits.Bytes), other)
}
