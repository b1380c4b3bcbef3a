package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/table"
)

func (a *app) clusterByCommand() *cobra.Command {
	var (
		out  output
		none bool
	)
	cmd := &cobra.Command{
		Use: "cluster-by PATH [COLUMN…]", Short: "Have a table clustered by columns, from the next compaction on, or by none", Args: cobra.MinimumNArgs(1),
		Example: "  sluice table cluster-by lake/orders customer ordered_at\n  sluice table cluster-by lake/orders --none",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			columns := commitlog.ColumnNames(strings.Join(args[1:], ","))
			if none == (len(columns) > 0) {
				return usageError{fmt.Errorf("cluster table %s: write the columns, or --none", args[0])}
			}
			store, err := pipeline.OpenStoreToWrite(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			t := table.New(store, table.Options{EngineVersion: version})
			done, err := t.ClusterBy(cmd.Context(), columns)
			if err != nil {
				return fmt.Errorf("cluster table %s: %w", args[0], err)
			}
			v := changeView{args[0], done.Version, done.Changed, protocolOf(t.Log().Head().Protocol)}
			return out.print(a.stdout, v, func(w io.Writer) { v.print(w, done) })
		},
	}
	out.flag(cmd)
	cmd.Flags().BoolVar(&none, "none", false, "have it clustered no longer")
	return cmd
}
