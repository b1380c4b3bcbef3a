package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// mostClusteringColumns is how many columns a table may be clustered by, as for Spark.
const mostClusteringColumns = 4

// ClusterBy has the table clustered by other columns, named with dots, or by none, in one commit, and upgrades its protocol by what that asks
// for; the protocol stays when it is no longer clustered. Files are as they were until a compaction. Columns that cannot be
// are an *ArgumentError, and those of which files of the table have no statistics are refused. Whoever changes the table's metadata, protocol or clustering meanwhile makes it fail with a
// *commitlog.ConflictError; other commits do not.
func (t *Table) ClusterBy(ctx context.Context, columns []string) (Changed, error) {
	head, err := t.log.Refresh(ctx)
	if err != nil {
		return Changed{}, err
	}
	was, err := head.ClusteringColumns()
	if err != nil {
		return Changed{}, err
	}
	paths, faults := clusteringPaths(head.Schema(), head.Metadata.PartitionColumns, head.Metadata.Configuration, columns)
	if err := argument(errors.Join(faults...)); err != nil {
		return Changed{}, err
	}
	if slices.EqualFunc(paths, was, slices.Equal[[]string]) {
		return Changed{Version: head.Version}, nil
	}
	if err := t.checkStatsOf(ctx, head.Version, added(was, paths)); err != nil {
		return Changed{}, err
	}
	c := commitlog.Commit{Domains: []commitlog.DomainMetadata{commitlog.ClusterBy(head.Schema(), paths)}}
	protocol, err := head.Protocol.With(commitlog.ClusteringFeatures()...)
	if err != nil {
		return Changed{}, err
	}
	if !protocol.Equal(head.Protocol) {
		c.Protocol = &protocol
	}
	c.Info = &commitlog.CommitInfo{Operation: "CLUSTER BY", EngineInfo: t.engine(), OperationParameters: map[string]any{
		"oldClusteringColumns": strings.Join(SQLNames(was), ","), "newClusteringColumns": strings.Join(SQLNames(paths), ","),
	}}
	version, err := t.change(ctx, commitlog.Transaction{ReadVersion: head.Version, Actions: c})
	return Changed{Version: version, Changed: true, Protocol: c.Protocol}, err
}

// clusteringPaths are the columns that a table is to be clustered by, as paths of names, and what stands against them.
func clusteringPaths(s *schema.Type, partitions []string, properties map[string]string, columns []string) (paths [][]string, faults []error) {
	if len(columns) == 0 {
		return nil, nil
	}
	if len(columns) > mostClusteringColumns {
		faults = append(faults, fmt.Errorf("cluster by %d columns: at most %d are allowed; leave some out", len(columns), mostClusteringColumns))
	}
	if len(partitions) > 0 {
		faults = append(faults, fmt.Errorf("cluster by %q: the table is partitioned by %q, and cannot be both; leave one out", columns, partitions))
	}
	choice, err := statsChoiceOf(properties)
	if err != nil {
		return nil, append(faults, err)
	}
	counted := choice.Of(storedColumns(s, partitions))
	for i, name := range columns {
		path, kind := s.Find(name)
		_, has := counted[name]
		problem := ""
		switch {
		case kind == nil:
			problem = "there is no such column; declare it, or leave it out"
		case slices.Contains(columns[:i], name):
			problem = "it is named twice; leave one out"
		case !bounded(kind):
			problem = fmt.Sprintf("files have no least and greatest value of type %s; name a column of numbers, texts, dates or timestamps", kind)
		case !has:
			problem = "files have no statistics of it; add it to delta.dataSkippingStatsColumns, or name another"
		}
		if problem != "" {
			faults = append(faults, fmt.Errorf("cluster by column %s: %s", name, problem))
		}
		paths = append(paths, path)
	}
	return paths, faults
}

// bounded says whether files have the least and the greatest value of the type, as for Spark (SkippingEligibleDataType).
func bounded(t *schema.Type) bool {
	switch t.Kind {
	case schema.Boolean, schema.Binary, schema.Void:
		return false
	}
	return !t.Nested()
}

// added are the dotted names of those that are now and were not before.
func added(was, now [][]string) (names []string) {
	before := commitlog.DottedPaths(was)
	for _, name := range commitlog.DottedPaths(now) {
		if !slices.Contains(before, name) {
			names = append(names, name)
		}
	}
	return names
}

// checkStatsOf refuses columns of which a file has no statistics: a clustered table needs them of all ("Writer Requirements for
// Clustered Table").
func (t *Table) checkStatsOf(ctx context.Context, version int64, columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	s, err := t.Snapshot(ctx, version)
	if err != nil {
		return err
	}
	lacking := make([]int, len(columns)) // files
	for f, err := range s.Files(ctx) {
		if err != nil {
			return err
		}
		stats := f.Stats()
		for i, name := range columns {
			if stats == nil {
				lacking[i]++
			} else if _, has := stats.Nulls[name]; !has {
				lacking[i]++
			}
		}
	}
	for i, n := range lacking {
		if n > 0 {
			return fmt.Errorf("cluster by column %s: %d files have no statistics of it; have them written again by sluice compact --zorder-by %[1]s --all", columns[i], n)
		}
	}
	return nil
}
