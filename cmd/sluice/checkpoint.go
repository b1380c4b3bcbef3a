package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/pipeline"
)

func (a *app) checkpointCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use: "checkpoint PATH", Short: "Write a log checkpoint of the newest version, from which readers open the table faster", Args: exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			store, err := pipeline.OpenStoreToWrite(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			v, err := writeCheckpoint(cmd.Context(), commitlog.New(store), args[0])
			if err != nil {
				return fmt.Errorf("table %s: %w", args[0], err)
			}
			return out.print(a.stdout, v, v.print)
		},
	}
	out.flag(cmd)
	return cmd
}

func writeCheckpoint(ctx context.Context, log *commitlog.Log, path string) (*checkpointView, error) {
	began := time.Now()
	done, err := log.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	v := &checkpointView{Path: path, Version: done.Version, There: done.There}
	if !done.There {
		v.writtenView = &writtenView{done.Files, done.Removed, done.Actions, done.Bytes, time.Since(began).Seconds()}
	}
	return v, nil
}

type checkpointView struct {
	Path    string `json:"path"`
	Version int64  `json:"version"`
	There   bool   `json:"was_there"`
	*writtenView
}

// writtenView is what is known of a log checkpoint that was not there already.
type writtenView struct {
	Files   int64   `json:"files"`
	Removed int64   `json:"removed_files"`
	Actions int64   `json:"actions"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

func (v *checkpointView) print(w io.Writer) {
	if v.There {
		fmt.Fprintf(w, "There is a log checkpoint of version %d already.\n", v.Version)
		return
	}
	fmt.Fprintf(w, "Wrote a log checkpoint of version %d: %d files, and %d that were removed, in %s.\n", v.Version, v.Files, v.Removed, size(v.Bytes))
}
