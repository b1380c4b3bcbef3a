package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/memory"
)

// leastOrderMemory is the least memory, in bytes, that rows are sorted in.
const leastOrderMemory = 16 << 20

// ordering are the flags of compact that put rows in order.
type ordering struct {
	by          string
	all         bool
	scratch     string
	memory      int64 // bytes
	parallelism int
}

func (o *ordering) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.by, "zorder-by", "", "put rows in the order of a Hilbert curve through these columns, a comma between them")
	cmd.Flags().BoolVar(&o.all, "all", false, "with --zorder-by: also files that are in this order already")
	cmd.Flags().StringVar(&o.scratch, "scratch", "", "with --zorder-by: folder for what is sorted and does not fit into memory (default the table's, or a temporary one for a bucket)")
	cmd.Flags().Int64Var(&o.memory, "memory", 256<<20, "with --zorder-by: bytes for rows that are sorted and written")
	cmd.Flags().IntVar(&o.parallelism, "parallelism", runtime.GOMAXPROCS(0), "with --zorder-by: files that are read, and columns that are encoded, at a time")
}

// apply gives the settings to a compaction of a table.
func (o *ordering) apply(c *compacting, path string) error {
	if o.by == "" {
		if o.all || o.scratch != "" {
			return usageError{errors.New("--all and --scratch: they go with --zorder-by")}
		}
		return nil
	}
	if o.memory < leastOrderMemory || o.parallelism < 1 {
		return usageError{fmt.Errorf("--memory %d, --parallelism %d: at least %d and 1", o.memory, o.parallelism, leastOrderMemory)}
	}
	scratch := o.scratch
	if info, err := os.Stat(path); scratch == "" && err == nil && info.IsDir() {
		scratch = path
	}
	budget := memory.New(o.memory)
	c.table.Memory, c.table.Parallelism = budget.Open("write", budget.Total()/4), o.parallelism
	c.options.Order = &compaction.Order{
		By: commitlog.ColumnNames(o.by), All: o.all,
		Settings: zorder.Settings{Memory: budget.Open("sort", budget.Total()/4), Scratch: scratch, Parallelism: o.parallelism},
	}
	return nil
}
