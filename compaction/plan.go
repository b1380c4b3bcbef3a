package compaction

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicedata/sluice/table"
)

// Options say which files are rewritten. The zero value is all small ones.
type Options struct {
	// Where holds for the partitions whose files are rewritten. Only partition columns may be in it.
	Where *table.Predicate
	// MinAge leaves alone what was written more recently: there ingestion and other engines' deletes are at work.
	MinAge time.Duration
	// MaxBytes ends the plan with the group that reaches it; 0: no end.
	MaxBytes int64
	// MaxFiles bounds the files in the plan, which takes some PlanMemory bytes for each; 0: no end.
	MaxFiles int
	// Now is the time that ages are told from.
	Now time.Time
	// Order is that of the rows. Without columns it is that of the columns that the table is clustered by; if it is not, rows stay as they
	// are.
	Order Order
}

func (o *Options) young(f *table.File) bool { return o.Now.Sub(f.Modified) < o.MinAge }

// Plan are the groups of files to rewrite, in the order of their first files, and what is left alone.
type Plan struct {
	Groups  []Group
	Young   int // files that are left alone for their age
	Foreign int // files that are left alone since another implementation has clustered them

	bytes    int64     // of the groups
	ordering *ordering // nil: rows stay in their order
}

// OrderedBy are the columns that rows are put in order by, and whether they are those that the table is clustered by; none: rows stay
// in their order.
func (p *Plan) OrderedBy() (columns []string, clustering bool) {
	if p.ordering == nil {
		return nil, false
	}
	return p.ordering.By, p.ordering.Clustering
}

// Group are files of one partition that become one, or several that are in order.
type Group struct {
	Partition string // column=value/…, for people; empty without partitions
	Files     []table.File
	Bytes     int64
}

// PlanMemory is about how many bytes the description of a file in a plan takes.
const PlanMemory = 1 << 10

// Files is how many files are in the groups.
func (p *Plan) Files() int {
	n := 0
	for i := range p.Groups {
		n += len(p.Groups[i].Files)
	}
	return n
}

// mostOf says whether part is more than three quarters of all.
func mostOf(part, all int64) bool { return part/3 > all/4 }

// NewPlan finds the groups; with an order, as that says. Without one they are of the files that have less than three quarters of the size that the table wants. Within a
// partition they come together in the order of their commits, so that rows that came together stay together and statistics
// stay narrow. A file that has an eighth of that size already, and would be more than three quarters of its group, is left
// out: it would be written again and again for little.
func NewPlan(ctx context.Context, s *table.Snapshot, o Options) (*Plan, error) {
	target, err := s.TargetFileSize()
	if err != nil {
		return nil, err
	}
	files, err := s.Matching(ctx, o.Where)
	if err != nil {
		return nil, err
	}
	if err := onlyPartitions(s, o.Where); err != nil {
		return nil, err
	}
	p := &Plan{}
	if p.ordering, err = o.Order.of(s); err != nil {
		return nil, err
	}
	if p.ordering != nil {
		return p, p.planOrder(s, o, files, groupFiles*target)
	}
	open := map[string]*Group{}
	var order []*Group
	taken := 0
	for f, err := range files {
		if err != nil {
			return nil, err
		}
		if mostOf(f.Size, target) {
			continue
		}
		if taken == o.MaxFiles && taken > 0 {
			break
		}
		if o.young(&f) {
			p.Young++
			continue
		}
		partition := s.PartitionOf(&f)
		g := open[partition]
		if g == nil || g.Bytes+f.Size > target {
			g = &Group{Partition: partition}
			open[partition] = g
			order = append(order, g)
		}
		g.Files = append(g.Files, f.Lean())
		g.Bytes += f.Size
		taken++
	}
	for _, g := range order {
		if g.trim(target / 8); len(g.Files) < 2 {
			continue
		}
		if p.add(*g, o.MaxBytes) {
			break
		}
	}
	return p, nil
}

// add adds a group, and says whether the plan ends with it.
func (p *Plan) add(g Group, maxBytes int64) (ends bool) {
	p.Groups = append(p.Groups, g)
	p.bytes += g.Bytes
	return maxBytes > 0 && p.bytes >= maxBytes
}

// trim leaves out files of at least so many bytes that are most of the group.
func (g *Group) trim(large int64) {
	for len(g.Files) > 1 {
		at := 0
		for i := range g.Files {
			if g.Files[i].Size > g.Files[at].Size {
				at = i
			}
		}
		if g.Files[at].Size < large || !mostOf(g.Files[at].Size, g.Bytes) {
			return
		}
		g.Bytes -= g.Files[at].Size
		g.Files = slices.Delete(g.Files, at, at+1)
	}
}

func onlyPartitions(s *table.Snapshot, where *table.Predicate) error {
	for _, column := range where.Columns() {
		if !slices.Contains(s.PartitionColumns(), column) {
			return fmt.Errorf("condition on column %s: the table is not partitioned by it; files are chosen by %s", column,
				cmp.Or(strings.Join(s.PartitionColumns(), ", "), "nothing, since it has no partitions"))
		}
	}
	return nil
}
