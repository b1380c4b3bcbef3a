package model

import (
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/table"
)

// compact is what the command does: small files become one, or all files of a clustered table are put in its order.
func (s *step) compact() error { return s.rewrite(nil) }

// order is the same with --zorder-by, which a clustered table does without.
func (s *step) order() error { return s.rewrite([]string{"id"}) }

func (s *step) rewrite(by []string) error {
	ctx := s.tb.Context()
	if err := s.sweep(); err != nil {
		return err
	}
	of, err := s.table.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	o, err := s.chooseFiles(of, by)
	if err != nil {
		return err
	}
	plan, err := compaction.NewPlan(ctx, of, o)
	if err != nil {
		return err
	}
	s.between()
	return compaction.Run(ctx, of, plan, compaction.Events{Done: func(d compaction.Done) {
		if d.Conflict != nil && !s.passed {
			s.fatalf("%v", d.Conflict)
		}
	}})
}

// chooseFiles has rows put in order by columns, or as the table is clustered, and at times only some files rewritten.
func (s *step) chooseFiles(of *table.Snapshot, by []string) (o compaction.Options, err error) {
	o.Now = s.clock
	clustering, err := of.ClusteringColumns()
	if err != nil {
		return o, err
	}
	if len(clustering) > 0 {
		by = nil
	}
	if len(clustering)+len(by) > 0 {
		o.Order = compaction.Order{By: by, All: s.random.IntN(2) == 0, Settings: zorder.Settings{
			Memory: memory.New(16<<20).Open("sort", 8<<20), Scratch: s.tb.TempDir(),
		}}
	}
	if s.random.IntN(4) == 0 {
		o.MaxFiles = 2 + s.random.IntN(3)
	}
	if s.random.IntN(4) == 0 {
		o.MaxBytes = 1
	}
	if len(of.PartitionColumns()) > 0 && s.random.IntN(4) == 0 {
		o.Where, err = of.Where("day >= '2026-11-02'")
	}
	return o, err
}

// clusterBy has the table clustered by other columns than before, or by none. It is refused for one that is partitioned.
func (s *step) clusterBy() error {
	columns := [][]string{nil, {"id"}, {"day", "id"}}[s.random.IntN(3)]
	done, err := s.table.ClusterBy(s.tb.Context(), columns)
	s.version = done.Version
	s.excused = s.partitioned && columns != nil
	if s.excused && err == nil {
		s.fatalf("a table that is partitioned is clustered")
	}
	return err
}

// clusteringOf are the columns that a version is clustered by.
func (w *world) clusteringOf(s *table.Snapshot) string {
	columns, err := s.ClusteringColumns()
	if err != nil {
		w.fatalf("version %d: %v", s.Version(), err)
	}
	return strings.Join(commitlog.DottedPaths(columns), ",")
}
