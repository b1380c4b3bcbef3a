package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/pipeline"
)

func (a *app) maintainCommand() *cobra.Command {
	var (
		out  output
		skip []string
		m    = maintaining{app: a}
	)
	works := []string{"compact", "checkpoint", "vacuum", "cleanup"}
	cmd := &cobra.Command{
		Use: "maintain TABLE|FILE.yaml…", Short: "Keep tables in shape: compact, then a log checkpoint if it is due, then vacuum, then cleanup of the log",
		Long: `Keep tables in shape: compact each, then write a log checkpoint if one is due, then vacuum, then clean up the log, while others read and write.

In place of a table stands a pipeline file for its table and its quarantine table, which are reached as the file says. What fails is
said, and all else is done; then the exit code is that of the failure.`,
		Example: "  sluice maintain lake/orders lake/events\n  sluice maintain orders.yaml --skip vacuum",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return usageError{fmt.Errorf("%s wants tables or pipeline files, got none; see %[1]s --help", cmd.CommandPath())}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			for _, work := range skip {
				if !slices.Contains(works, work) {
					return usageError{fmt.Errorf("--skip %q: write some of %s", work, strings.Join(works, ","))}
				}
			}
			if m.minAge < 0 {
				return usageError{fmt.Errorf("--min-age %s: it cannot be below 0", m.minAge)}
			}
			m.compact, m.checkpoint = !slices.Contains(skip, works[0]), !slices.Contains(skip, works[1])
			m.vacuum, m.cleanup = !slices.Contains(skip, works[2]), !slices.Contains(skip, works[3])
			v := &maintainView{DryRun: m.dry, Tables: []*maintainedView{}}
			err := m.all(cmd.Context(), args, v)
			return errors.Join(out.print(a.stdout, v, v.print), err)
		},
	}
	out.flag(cmd)
	cmd.Flags().StringSliceVar(&skip, "skip", nil, "leave out some of "+strings.Join(works, ","))
	cmd.Flags().DurationVar(&m.minAge, "min-age", 5*time.Minute, "have compact leave alone what was written more recently")
	cmd.Flags().BoolVar(&m.lite, "lite", false, "have vacuum delete only what commits in the log tell to have been removed, and not list the folder")
	a.hurryFlag(cmd)
	cmd.Flags().BoolVar(&m.dry, "dry-run", false, "show what would be done, and do nothing")
	return cmd
}

// maintaining is one call of the verb.
type maintaining struct {
	app                 *app
	compact, checkpoint bool
	vacuum, cleanup     bool
	minAge              time.Duration
	lite, dry           bool
}

// all maintains the tables one after the other, and returns what has failed.
func (m *maintaining) all(ctx context.Context, targets []string, v *maintainView) error {
	var failed error
	for _, target := range targets {
		tables, err := m.open(ctx, target)
		if err != nil {
			failed = errors.Join(failed, err)
			v.Tables = append(v.Tables, &maintainedView{Path: target, Failures: []failureView{{"open", err.Error()}}})
			continue
		}
		for _, t := range tables {
			done, err := m.table(ctx, t)
			failed = errors.Join(failed, err)
			if done != nil {
				v.Tables = append(v.Tables, done)
			}
			if ctx.Err() != nil {
				return errors.Join(failed, ctx.Err())
			}
		}
	}
	return failed
}

// open returns the table at a path, or those of a pipeline file.
func (m *maintaining) open(ctx context.Context, target string) ([]pipeline.TableStore, error) {
	if !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(target)) {
		store, err := openToChange(ctx, target, m.dry)
		return []pipeline.TableStore{{Path: target, Store: store}}, err
	}
	f, err := pipeline.Load(target, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return f.OpenTables(ctx, version, !m.dry)
}

// table does each work, whatever has become of those before it. It returns nothing of a table that need not be there and is not.
func (m *maintaining) table(ctx context.Context, t pipeline.TableStore) (*maintainedView, error) {
	v := &maintainedView{Path: t.Path, Failures: []failureView{}}
	var failed error
	try := func(work string, do func() error) {
		m.app.lead = t.Path + "  " + work + "  "
		if err := do(); err != nil && ctx.Err() == nil {
			v.Failures = append(v.Failures, failureView{work, err.Error()})
			failed = errors.Join(failed, fmt.Errorf("%s table %s: %w", work, t.Path, err))
		}
	}
	log := commitlog.New(t.Store)
	if _, err := log.Load(ctx); err != nil {
		if t.Maybe && errors.Is(err, commitlog.ErrNoTable) {
			return nil, nil
		}
		try("open", func() error { return err })
		return v, failed
	}
	if m.compact {
		c := &compacting{app: m.app, options: compaction.Options{MinAge: m.minAge, Now: time.Now()}, dry: m.dry}
		order := ordering{memory: orderMemory, parallelism: runtime.GOMAXPROCS(0)}
		try("compact", func() error { return errors.Join(order.apply(c, t.Path), c.run(ctx, t.Store, t.Path, "")) })
		if c.view.Path != "" { // it has come to a plan
			v.Compact = &c.view
		}
	}
	if m.checkpoint {
		try("checkpoint", func() error { return m.checkpointIfDue(ctx, log, v) })
	}
	if m.vacuum {
		try("vacuum", func() (err error) {
			v.Vacuum, err = m.app.vacuum(ctx, t.Store, t.Path, vacuum.Options{Lite: m.lite, Now: time.Now()}, m.dry)
			return err
		})
	}
	if m.cleanup {
		try("cleanup", func() (err error) {
			v.Cleanup, err = m.app.cleanup(ctx, t.Store, t.Path, nil, m.dry)
			return err
		})
	}
	return v, failed
}

func (m *maintaining) checkpointIfDue(ctx context.Context, log *commitlog.Log, v *maintainedView) error {
	if _, err := log.Refresh(ctx); err != nil {
		return err
	}
	due, err := log.CheckpointDue(ctx)
	if err != nil {
		return err
	}
	v.Checkpoint = &dueView{Due: due}
	if due && !m.dry {
		v.Checkpoint.checkpointView, err = writeCheckpoint(ctx, log, v.Path)
	}
	return err
}

type maintainView struct {
	DryRun bool              `json:"dry_run"`
	Tables []*maintainedView `json:"tables"`
}

// maintainedView is what was done to a table; what was left out, or could not begin, is absent.
type maintainedView struct {
	Path       string        `json:"path"`
	Compact    *compactView  `json:"compact,omitempty"`
	Checkpoint *dueView      `json:"checkpoint,omitempty"`
	Vacuum     *vacuumView   `json:"vacuum,omitempty"`
	Cleanup    *cleanupView  `json:"cleanup,omitempty"`
	Failures   []failureView `json:"failures"`
}

type dueView struct {
	Due bool `json:"due"`
	*checkpointView
}

type failureView struct {
	Work  string `json:"work"` // open, compact, checkpoint, vacuum or cleanup
	Error string `json:"error"`
}

func (v *maintainView) print(w io.Writer) {
	row(w, "TABLE", "WORK", "RESULT")
	for _, t := range v.Tables {
		if t.Compact != nil {
			row(w, t.Path, "compact", t.Compact.summary())
		}
		if t.Checkpoint != nil {
			row(w, t.Path, "checkpoint", t.Checkpoint.summary())
		}
		if t.Vacuum != nil {
			row(w, t.Path, "vacuum", t.Vacuum.summary())
		}
		if t.Cleanup != nil {
			row(w, t.Path, "cleanup", t.Cleanup.summary())
		}
		for _, f := range t.Failures {
			row(w, t.Path, f.Work, "failed: "+oneLine(f.Error))
		}
	}
}

// summary tells in a line what has become of the groups.
func (v *compactView) summary() string {
	var from, to countView
	lost := 0
	for _, g := range v.Groups {
		if g.Conflict != "" {
			lost++
			continue
		}
		from.Files += int64(g.Files)
		from.Bytes += g.Bytes
		if g.Into != nil {
			to.Files += int64(g.Into.Files)
			to.Bytes += g.Into.Bytes
		}
	}
	text := "nothing to rewrite"
	switch {
	case from.Files > 0 && v.DryRun:
		text = fmt.Sprintf("%s to be rewritten", from)
	case from.Files > 0:
		text = fmt.Sprintf("%s became %s", from, to)
	}
	if lost > 0 {
		text += fmt.Sprintf("; groups left alone, since others changed their files: %d", lost)
	}
	if v.Young > 0 {
		text += fmt.Sprintf("; too young: %d", v.Young)
	}
	return text
}

func (v *dueView) summary() string {
	switch {
	case !v.Due:
		return "not due"
	case v.checkpointView == nil:
		return "due"
	case v.There:
		return fmt.Sprintf("of version %d, there already", v.Version)
	}
	return fmt.Sprintf("of version %d: %d files, in %s", v.Version, v.Files, size(v.Bytes))
}

func (v *vacuumView) summary() string {
	all := countView{v.Removed.Files + v.Orphans.Files, v.Removed.Bytes + v.Orphans.Bytes}
	if v.DryRun {
		return fmt.Sprintf("%s to be deleted", all)
	}
	return fmt.Sprintf("deleted %s", all)
}
