package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/table"
)

type commitView struct {
	Version      int64             `json:"version"`
	Time         time.Time         `json:"time"` // by which --at goes
	Operation    string            `json:"operation"`
	Parameters   map[string]any    `json:"parameters"`
	Engine       string            `json:"engine"`
	Added        int               `json:"files_added"`
	Removed      int               `json:"files_removed"`
	RowsAdded    int64             `json:"rows_added"`   // -1: not all files tell
	RowsRemoved  int64             `json:"rows_removed"` // -1: not all files tell
	Metrics      map[string]string `json:"metrics"`
	Batches      []appView         `json:"batches"`
	UserMetadata string            `json:"user_metadata,omitempty"`
}

func (a *app) historyCommand() *cobra.Command {
	var (
		out   output
		at    moment
		limit int64
	)
	cmd := &cobra.Command{
		Use: "history PATH", Short: "List the versions of a table, newest first", Args: exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if limit < 0 {
				return usageError{fmt.Errorf("--limit %d: write a number above 0, or 0 for all versions", limit)}
			}
			t, err := openTable(args[0])
			if err == nil {
				err = a.printHistory(cmd.Context(), t, &at, limit, out)
			}
			if err != nil {
				return fmt.Errorf("read the history of table %s: %w", args[0], err)
			}
			return nil
		},
	}
	out.flag(cmd)
	at.flags(cmd)
	cmd.Flags().Int64Var(&limit, "limit", 0, "most versions; 0: all")
	return cmd
}

// printHistory prints commits as they are read, from the moment on back.
func (a *app) printHistory(ctx context.Context, t *table.Table, from *moment, limit int64, out output) error {
	times, err := t.Log().Times(ctx)
	if err != nil {
		return err
	}
	version, err := from.number()
	if from.at != "" {
		var at time.Time
		if at, err = from.time(); err == nil {
			version, err = times.Version(ctx, at)
		}
	}
	if err != nil {
		return err
	}
	list := out.list(a.stdout, "commits", "VERSION", "TIME", "OPERATION", "ADDED", "REMOVED", "ROWS", "BATCH", "ENGINE")
	printed := int64(0)
	for c, err := range t.Log().Backwards(ctx, version) {
		if err != nil {
			return err
		}
		v := viewOf(c, times.Of(c))
		if err := list.add(v, v.cells()...); err != nil {
			return err
		}
		if printed++; printed == limit {
			break
		}
	}
	return list.end()
}

func viewOf(c *commitlog.Commit, at time.Time) commitView {
	v := commitView{Version: c.Version, Time: at, Added: len(c.Adds), Removed: len(c.Removes), Parameters: map[string]any{}, Metrics: map[string]string{}, Batches: []appView{}}
	if c.Info != nil {
		v.Operation, v.Engine, v.UserMetadata = c.Info.Operation, c.Info.EngineInfo, c.Info.UserMetadata
		if c.Info.OperationMetrics != nil {
			v.Metrics = c.Info.OperationMetrics
		}
		if c.Info.OperationParameters != nil {
			v.Parameters = c.Info.OperationParameters
		}
	}
	for i := range c.Adds {
		v.RowsAdded = plus(v.RowsAdded, commitlog.RowsOf(c.Adds[i].Stats, c.Adds[i].DeletionVector))
	}
	for i := range c.Removes {
		v.RowsRemoved = plus(v.RowsRemoved, commitlog.RowsOf(c.Removes[i].Stats, c.Removes[i].DeletionVector))
	}
	for _, t := range c.Txns {
		v.Batches = append(v.Batches, appView{t.AppID, t.Version, c.Version})
	}
	return v
}

// plus adds numbers of which -1 is one that is not known.
func plus(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

func (v *commitView) cells() []any {
	var batches []string
	for _, b := range v.Batches {
		batches = append(batches, fmt.Sprintf("%s %d", b.App, b.Batch))
	}
	rows := "+" + told(v.RowsAdded)
	if v.Removed > 0 {
		rows += " -" + told(v.RowsRemoved)
	}
	return []any{v.Version, clock(v.Time), cmp.Or(v.Operation, "-"), v.Added, v.Removed, rows, cmp.Or(strings.Join(batches, ", "), "-"), cmp.Or(v.Engine, "-")}
}
