package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

func (a *app) createCommand() *cobra.Command {
	var (
		out        output
		columns    string
		by         []string
		clusterBy  string
		properties []string
	)
	cmd := &cobra.Command{
		Use: "create PATH", Short: "Make an empty table", Args: exactly("PATH"),
		Example: "  sluice table create lake/orders --schema 'id long not null, day date, amount decimal(10,2)' --partition-by day --property delta.appendOnly=true",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			create, err := createOf(columns, by, commitlog.ColumnNames(clusterBy), properties)
			if err != nil {
				return err
			}
			store, err := pipeline.OpenStoreToWrite(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			t := table.New(store, table.Options{EngineVersion: version})
			if err := t.Make(cmd.Context(), create); err != nil {
				return err
			}
			v := changeView{Path: args[0], Changed: true, Protocol: protocolOf(t.Log().Head().Protocol)}
			return out.print(a.stdout, v, func(w io.Writer) { fmt.Fprintf(w, "created %s\n", args[0]) })
		},
	}
	out.flag(cmd)
	cmd.Flags().StringVar(&columns, "schema", "", "columns with their types, in DDL")
	cmd.Flags().StringSliceVar(&by, "partition-by", nil, "columns that the table is partitioned by")
	cmd.Flags().StringVar(&clusterBy, "cluster-by", "", "columns that the table is clustered by, a comma between them")
	cmd.Flags().StringArrayVar(&properties, "property", nil, "table property, KEY=VALUE; again for each")
	return cmd
}

func createOf(columns string, by, clusterBy, properties []string) (*table.Create, error) {
	if columns == "" {
		return nil, usageError{fmt.Errorf("--schema: write the columns, such as 'id long not null, day date'")}
	}
	s, err := schema.ParseDDL("struct<" + columns + ">")
	if err != nil {
		return nil, usageError{fmt.Errorf("--schema %q: %w", columns, err)}
	}
	set, err := keysAndValues(properties)
	if err != nil {
		return nil, err
	}
	create := &table.Create{Schema: s, PartitionColumns: by, ClusterBy: clusterBy, Properties: set}
	return create, create.Check()
}

func keysAndValues(pairs []string) (map[string]string, error) {
	set := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := set[key]; !ok || key == "" || twice {
			return nil, usageError{fmt.Errorf("%q: write KEY=VALUE, each key once", pair)}
		}
		set[key] = value
	}
	return set, nil
}

func protocolOf(p commitlog.Protocol) protocolView {
	return protocolView{Reader: p.MinReaderVersion, Writer: p.MinWriterVersion, ReaderFeatures: p.ReaderFeatures, WriterFeatures: p.WriterFeatures}
}
