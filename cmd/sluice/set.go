package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/table"
)

// changeView is what became of a table.
type changeView struct {
	Path     string       `json:"path"`
	Version  int64        `json:"version"`
	Changed  bool         `json:"changed"`
	Protocol protocolView `json:"protocol"`
}

func (a *app) setCommand() *cobra.Command {
	var (
		out   output
		unset []string
	)
	cmd := &cobra.Command{
		Use: "set PATH [KEY=VALUE…]", Short: "Set or unset properties of a table", Args: cobra.MinimumNArgs(1),
		Example: "  sluice table set lake/orders delta.targetFileSize=256mb\n  sluice table set lake/orders --unset delta.appendOnly",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			set, err := keysAndValues(args[1:])
			if err != nil {
				return err
			}
			if len(set)+len(unset) == 0 {
				return usageError{fmt.Errorf("set table %s: write KEY=VALUE, or --unset KEY", args[0])}
			}
			store, err := pipeline.OpenStoreToWrite(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			t := table.New(store, table.Options{EngineVersion: version})
			done, err := t.ChangeProperties(cmd.Context(), table.Change{Set: set, Unset: unset})
			if err != nil {
				return fmt.Errorf("set properties of table %s: %w", args[0], err)
			}
			v := changeView{args[0], done.Version, done.Changed, protocolOf(t.Log().Head().Protocol)}
			return out.print(a.stdout, v, func(w io.Writer) { v.print(w, done) })
		},
	}
	out.flag(cmd)
	cmd.Flags().StringSliceVar(&unset, "unset", nil, "properties to unset")
	return cmd
}

func (v *changeView) print(w io.Writer, done table.Changed) {
	if !done.Changed {
		fmt.Fprintf(w, "nothing to change at version %d\n", v.Version)
		return
	}
	fmt.Fprintf(w, "version %d\n", v.Version)
	if done.Protocol != nil {
		fmt.Fprintf(w, "the protocol is now %s\n", v.Protocol)
	}
}
