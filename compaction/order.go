package compaction

import (
	"context"
	"iter"

	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/table"
)

// Order has rows put into the order of a curve through columns, so that a query on any of them skips files. Files of all sizes
// are rewritten then, a partition's together.
type Order struct {
	By  []string // dotted names of columns
	All bool     // also files that are in this order already
	zorder.Settings
}

// curveName is what tags of files call the curve.
const curveName = "hilbert"

const (
	// groupFiles is how many files of the size that the table wants a group becomes at most: in so many a query finds few, and a lost race
	// does not cost a large partition.
	groupFiles = 64
	// newShare is the part of a group, one in so many, that files not in order have to be before the others are written again.
	newShare = 10
)

// ordering is a plan's order.
type ordering struct {
	columns  *zorder.Columns
	settings zorder.Settings
}

// placed is a file, and which files it was put in order with; empty: none.
type placed struct {
	table.File
	cube string
}

// planOrder finds the groups of each partition.
func (p *Plan) planOrder(s *table.Snapshot, o Options, files iter.Seq2[table.File, error], target int64) error {
	columns, err := zorder.NewColumns(s, o.Order.By)
	if err != nil {
		return err
	}
	p.ordering = &ordering{columns, o.Order.Settings}
	of := map[string][]placed{}
	var partitions []string
	for f, err := range files {
		if err != nil {
			return err
		}
		if o.young(&f) {
			p.Young++
			continue
		}
		partition := s.PartitionOf(&f)
		if of[partition] == nil {
			partitions = append(partitions, partition)
		}
		f := placed{File: f}
		if !o.Order.All {
			f.cube = f.Cube(columns.Names(), curveName)
		}
		of[partition] = append(of[partition], f)
	}
	for _, partition := range partitions {
		for _, g := range orderGroups(of[partition], groupFiles*target) {
			g.Partition = partition
			if p.add(g, o.MaxBytes) {
				return nil
			}
		}
	}
	return nil
}

// orderGroups puts files of a partition into groups of so many bytes at most. Files that were put in order together, and are more
// than half of that, stay as they are. So do those that are most of the others, until what is not in order with them has grown to a tenth of them.
func orderGroups(files []placed, most int64) []Group {
	cubes := map[string]int64{} // bytes
	for _, f := range files {
		if f.cube != "" {
			cubes[f.cube] += f.Size
		}
	}
	largest := ""
	for cube, bytes := range cubes {
		if bytes <= most/2 && (largest == "" || bytes > cubes[largest] || bytes == cubes[largest] && cube < largest) {
			largest = cube
		}
	}
	var open []placed
	var loose int64 // bytes that are not in order
	for _, f := range files {
		if cubes[f.cube] > most/2 {
			continue
		}
		open = append(open, f)
		if f.cube == "" || f.cube != largest {
			loose += f.Size
		}
	}
	if loose <= cubes[largest]/newShare {
		return nil
	}
	var groups []Group
	for _, f := range open {
		last := len(groups) - 1
		if last < 0 || groups[last].Bytes+f.Size > most {
			groups = append(groups, Group{})
			last++
		}
		groups[last].Files = append(groups[last].Files, f.File)
		groups[last].Bytes += f.Size
	}
	return groups
}

// rewrite gives a group's rows to the rewrite in order.
func (o *ordering) rewrite(ctx context.Context, r *table.Rewrite, g Group, e zorder.Events) error {
	r.Order(o.columns.Names(), curveName)
	return zorder.Order(ctx, r, g.Files, o.columns, o.settings, e)
}
