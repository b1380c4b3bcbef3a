package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/memory"
)

const (
	// orderMemory is the memory, in bytes, that rows are sorted and written in, unless it is said.
	orderMemory = 256 << 20
	// leastOrderMemory is the least of it.
	leastOrderMemory = 16 << 20
)

// ordering are the flags of compact that put rows in order.
type ordering struct {
	by          string
	all         bool
	scratch     string
	memory      int64 // bytes
	parallelism int
}

func (o *ordering) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.by, "zorder-by", "", "put rows in the order of a Hilbert curve through these columns, a comma between them; a clustered table has columns for that already")
	cmd.Flags().BoolVar(&o.all, "all", false, "with --zorder-by, and of a clustered table: also files that are in order already")
	cmd.Flags().StringVar(&o.scratch, "scratch", "", "folder for what is sorted and does not fit into memory (default the table's, or a temporary one for a bucket)")
	cmd.Flags().Int64Var(&o.memory, "memory", orderMemory, "bytes for rows that are sorted and written")
	cmd.Flags().IntVar(&o.parallelism, "parallelism", runtime.GOMAXPROCS(0), "files that are read to be sorted, and columns that are encoded, at a time")
}

// apply gives the settings to a compaction of a table. What rows are written in is the table's own as long as nobody says anything of order or
// memory.
func (o *ordering) apply(c *compacting, path string) error {
	if o.memory < leastOrderMemory || o.parallelism < 1 {
		return usageError{fmt.Errorf("--memory %d, --parallelism %d: at least %d and 1", o.memory, o.parallelism, leastOrderMemory)}
	}
	budget := memory.New(o.memory)
	c.table.Parallelism = o.parallelism
	if o.by != "" || o.memory != orderMemory {
		c.table.Memory = budget.Open("write", budget.Total()/4)
	}
	c.options.Order = compaction.Order{
		By: commitlog.ColumnNames(o.by), All: o.all,
		Settings: zorder.Settings{Memory: budget.Open("sort", budget.Total()/4), Scratch: o.scratchFolder(path), Parallelism: o.parallelism},
	}
	return nil
}

// scratchFolder is the table's, if it is one.
func (o *ordering) scratchFolder(path string) string {
	if info, err := os.Stat(path); o.scratch == "" && err == nil && info.IsDir() {
		return path
	}
	return o.scratch
}
