package compaction

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/table"
)

// Order has rows put into the order of a curve through columns, so that a query on any of them skips files. Files of all sizes
// are rewritten then, a partition's together: see chooseCubes.
type Order struct {
	By  []string // dotted names of columns; none: those that the table is clustered by
	All bool     // also files that are in this order already, and those that another implementation has clustered
	zorder.Settings
}

const (
	// curveName is what tags of files call the curve.
	curveName = "hilbert"
	// groupFiles is how many files of the size that the table wants a group becomes at most: in so many a query finds few, and a lost race
	// does not cost a large partition.
	groupFiles = 64
	// ownMemory is that of a sorting which is given none, in bytes.
	ownMemory = 64 << 20
)

// ordering is a plan's order.
type ordering struct {
	table.Ordering
	columns  *zorder.Columns
	settings zorder.Settings
}

// of is the order of a snapshot's rows; nil: none.
func (o *Order) of(s *table.Snapshot) (*ordering, error) {
	clustering, err := s.ClusteringColumns()
	if err != nil {
		return nil, err
	}
	is := &ordering{Ordering: table.Ordering{By: o.By, Curve: curveName}, settings: o.Settings}
	names := o.By
	switch {
	case len(clustering) > 0 && len(names) > 0:
		return nil, &table.ArgumentError{Err: fmt.Errorf("order rows by %s: the table is clustered by %s, and is put in that order; leave the columns out, or have it clustered by these",
			strings.Join(names, ", "), strings.Join(commitlog.DottedPaths(clustering), ", "))}
	case len(clustering) > 0:
		names = commitlog.DottedPaths(clustering)
		is.By, is.Clustering = table.SQLNames(clustering), true
	case len(names) == 0 && o.All:
		return nil, &table.ArgumentError{Err: errors.New("put all files in order: the table is not clustered; name columns to order rows by")}
	case len(names) == 0:
		return nil, nil
	}
	if is.settings.Memory == nil {
		is.settings.Memory = memory.New(ownMemory).Open("sort", ownMemory)
	}
	if is.columns, err = zorder.NewColumns(s, names); err != nil && is.Clustering { // nobody asked for these columns
		err = fmt.Errorf("the table's clustering: %v", err)
	}
	return is, err
}

// planOrder finds the groups of each partition, of so many bytes at most. It goes through the files twice: to weigh the cubes, and to take
// the files of those that are chosen.
func (p *Plan) planOrder(s *table.Snapshot, o Options, files iter.Seq2[table.File, error], most int64) error {
	weights := map[string]cubes{} // by partition
	for f, err := range files {
		switch {
		case err != nil:
			return err
		case p.foreign(&f, o):
			p.Foreign++
		case o.young(&f):
			p.Young++
		default:
			partition := s.PartitionOf(&f)
			if weights[partition] == nil {
				weights[partition] = cubes{}
			}
			weights[partition][p.cubeOf(&f, o)] += f.Size
		}
	}
	chosen := make(map[string]map[string]bool, len(weights))
	for partition, c := range weights {
		chosen[partition] = c.choose(most)
	}
	return p.takeChosen(s, o, files, chosen, most)
}

// takeChosen puts the files of chosen cubes, by partition, into groups.
func (p *Plan) takeChosen(s *table.Snapshot, o Options, files iter.Seq2[table.File, error], chosen map[string]map[string]bool, most int64) error {
	groups := grouping{most: most, files: o.MaxFiles}
	for f, err := range files {
		if err != nil {
			return err
		}
		partition := s.PartitionOf(&f)
		if p.foreign(&f, o) || o.young(&f) || !chosen[partition][p.cubeOf(&f, o)] {
			continue
		}
		if groups.full() {
			break
		}
		groups.take(partition, &f)
	}
	for _, g := range groups.all {
		if p.add(*g, o.MaxBytes) {
			break
		}
	}
	return nil
}

// foreign says whether a file is not ours to cluster ("Writer Requirements for Clustered Table").
func (p *Plan) foreign(f *table.File, o Options) bool {
	return p.ordering.Clustering && !o.Order.All && f.ClusteredElsewhere()
}

func (p *Plan) cubeOf(f *table.File, o Options) string {
	if o.Order.All {
		return unordered
	}
	return f.Cube(p.ordering.Ordering)
}

// rewrite gives a group's rows to the rewrite in order.
func (o *ordering) rewrite(ctx context.Context, r *table.Rewrite, g Group, e zorder.Events) error {
	r.Order(o.Ordering)
	return zorder.Order(ctx, r, g.Files, o.columns, o.settings, e)
}
