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
	groups := grouping{most: target, files: o.MaxFiles}
	for f, err := range files {
		if err != nil {
			return nil, err
		}
		if mostOf(f.Size, target) {
			continue
		}
		if groups.full() {
			break
		}
		if o.young(&f) {
			p.Young++
			continue
		}
		groups.take(s.PartitionOf(&f), &f)
	}
	for _, g := range groups.all {
		if g.trim(target / 8); len(g.Files) < 2 {
			continue
		}
		if p.add(*g, o.MaxBytes) {
			break
		}
	}
	return p, nil
}

// grouping puts files into groups of one partition each, in the order in which they come.
type grouping struct {
	most  int64 // bytes of a group, unless it has only one file
	files int   // that are taken at most; 0: all
	taken int
	open  map[string]*Group // by partition
	all   []*Group
}

func (g *grouping) full() bool { return g.files > 0 && g.taken == g.files }

func (g *grouping) take(partition string, f *table.File) {
	group := g.open[partition]
	if group == nil || group.Bytes+f.Size > g.most {
		if g.open == nil {
			g.open = map[string]*Group{}
		}
		group = &Group{Partition: partition}
		g.open[partition] = group
		g.all = append(g.all, group)
	}
	group.Files = append(group.Files, f.Lean())
	group.Bytes += f.Size
	g.taken++
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
			return &table.ArgumentError{Err: fmt.Errorf("condition on column %s: the table is not partitioned by it; files are chosen by %s", column,
				cmp.Or(strings.Join(s.PartitionColumns(), ", "), "nothing, since it has no partitions"))}
		}
	}
	return nil
}
