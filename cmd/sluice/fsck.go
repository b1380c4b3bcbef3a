package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

func (a *app) fsckCommand() *cobra.Command {
	var (
		out          output
		deep, remove bool
	)
	cmd := &cobra.Command{
		Use: "fsck PATH", Short: "Find out whether a table is whole: its log, and its files against the log", Args: exactly("PATH"),
		Long: `Find out whether a table is whole: its log, and the files of its newest version against the log.

The exit code is 3 when a fault is found, and is still there at the end.`,
		Example: "  sluice fsck lake/orders\n  sluice fsck lake/orders --deep",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			view, err := a.fsck(cmd.Context(), args[0], deep, remove)
			if view == nil {
				return fmt.Errorf("check table %s: %w", args[0], err)
			}
			err = errors.Join(out.print(a.stdout, view, view.print), err)
			if err != nil {
				return fmt.Errorf("table %s: %w", args[0], err)
			}
			return nil
		},
	}
	out.flag(cmd)
	cmd.Flags().BoolVar(&deep, "deep", false, "read all values: against the checksums of pages and the statistics, and texts as UTF-8")
	cmd.Flags().BoolVar(&remove, "remove-missing", false, "have files that are not there removed from the table, in one commit; their rows are lost")
	return cmd
}

// fsck returns no view when the table could not be checked.
func (a *app) fsck(ctx context.Context, path string, deep, remove bool) (*fsckView, error) {
	open := func() (storage.Store, error) { return pipeline.OpenStore(path, version) }
	if remove {
		open = func() (storage.Store, error) { return pipeline.OpenStoreToWrite(ctx, path, version) }
	}
	store, err := open()
	if err != nil {
		return nil, err
	}
	check := func() (*fsck.Report, error) {
		line := newProgressLine(a.stderr)
		defer line.clear()
		return fsck.Check(ctx, store, fsck.Options{Deep: deep, Now: time.Now(), Progress: func(files, of int) {
			line.show(fmt.Sprintf("%s of %s files", number(int64(files)), number(int64(of))))
		}})
	}
	r, err := check()
	if err != nil {
		return nil, err
	}
	v := viewOfFsck(path, deep, r)
	if !remove {
		return v, r.Err()
	}
	removed, err := fsck.RemoveMissing(ctx, store, r, table.Options{EngineVersion: version}, time.Now())
	if err != nil {
		return v, err
	}
	if removed.Version >= 0 {
		if r, err = check(); err != nil {
			return v, err
		}
		v = viewOfFsck(path, deep, r)
		v.Removed = &removedView{removed.Version, removed.Files, removed.Rows, removed.Unknown}
	}
	return v, r.Err()
}

type fsckView struct {
	Path      string       `json:"path"`
	Version   int64        `json:"version"` // -1: the log cannot be read
	Deep      bool         `json:"deep"`
	Files     int          `json:"files"`
	Bytes     int64        `json:"bytes"`
	Elsewhere int          `json:"elsewhere"` // files in another kind of store, which were not checked
	Faults    []fsckFault  `json:"faults"`
	Orphans   countView    `json:"orphans"`
	Young     countView    `json:"young_orphans"`
	Removed   *removedView `json:"removed,omitempty"` // by --remove-missing; the rest is of after it
}

type fsckFault struct {
	Path    string `json:"path"`
	Missing bool   `json:"missing"`
	Problem string `json:"problem"`
}

type removedView struct {
	Version int64 `json:"version"`
	Files   int   `json:"files"`
	Rows    int64 `json:"rows"`
	Unknown int   `json:"files_without_statistics"`
}

func viewOfFsck(path string, deep bool, r *fsck.Report) *fsckView {
	v := &fsckView{
		Path: path, Version: r.Version, Deep: deep, Files: r.Files, Bytes: r.Bytes, Elsewhere: r.Elsewhere,
		Faults: []fsckFault{}, Orphans: countView(r.Orphans), Young: countView(r.Young),
	}
	for _, f := range r.Faults {
		v.Faults = append(v.Faults, fsckFault(f))
	}
	return v
}

func (v *fsckView) print(w io.Writer) {
	for i, f := range v.Faults {
		if i == 0 {
			row(w, "FILE", "FAULT")
		}
		row(w, f.Path, f.Problem)
	}
	if r := v.Removed; r != nil {
		fmt.Fprintf(w, "Removed from the table as version %d: %s with %s", r.Version, several(int64(r.Files), "missing file"), several(r.Rows, "row"))
		if r.Unknown > 0 {
			fmt.Fprintf(w, ", and those of %s of which it is not known", several(int64(r.Unknown), "file"))
		}
		fmt.Fprintln(w, ".")
	}
	if v.Version >= 0 {
		fmt.Fprintf(w, "Version %d: %s checked, %s.\n", v.Version, countView{int64(v.Files), v.Bytes}, several(int64(len(v.Faults)), "fault"))
	}
	if v.Elsewhere > 0 {
		fmt.Fprintf(w, "Not checked, in another kind of store than the table: %s.\n", several(int64(v.Elsewhere), "file"))
	}
	if v.Orphans.Files > 0 {
		fmt.Fprintf(w, "No commit refers to %s; a vacuum deletes them.\n", v.Orphans)
	}
	if v.Young.Files > 0 {
		fmt.Fprintf(w, "No commit refers to %s so far, which are young: somebody may be about to commit them.\n", v.Young)
	}
}
