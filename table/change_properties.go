package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// Change is a change of a table's properties.
type Change struct {
	Set   map[string]string
	Unset []string
}

// Changed is the outcome of ChangeProperties, and of ClusterBy.
type Changed struct {
	Version  int64 // that has what was asked for; the one before if it was so already
	Changed  bool
	Protocol *commitlog.Protocol // when it was upgraded
}

// ChangeProperties changes properties of the table in one commit, and upgrades its protocol by the features that they ask for. What
// is unset leaves the protocol as it is. What cannot be set or unset is an *ArgumentError. Whoever changes the table's metadata or protocol meanwhile makes it fail with a
// *commitlog.ConflictError; other commits do not.
func (t *Table) ChangeProperties(ctx context.Context, change Change) (Changed, error) {
	head, err := t.log.Refresh(ctx)
	if err != nil {
		return Changed{}, err
	}
	c, err := change.actions(head)
	if err != nil {
		return Changed{}, err
	}
	done := Changed{Version: head.Version, Changed: c.Metadata != nil, Protocol: c.Protocol}
	if !done.Changed {
		return done, nil
	}
	c.Info.EngineInfo = t.engine()
	done.Version, err = t.change(ctx, commitlog.Transaction{ReadVersion: head.Version, Actions: c})
	return done, err
}

// actions are those of the change; without Metadata when nothing is changed.
func (c *Change) actions(head *commitlog.Head) (commitlog.Commit, error) {
	var faults []error
	protocol, metadata := head.Protocol, head.Metadata
	create := &Create{Schema: head.Schema(), PartitionColumns: metadata.PartitionColumns, Properties: c.Set}
	faults = append(faults, create.checkProperties()...)
	metadata.Configuration = maps.Clone(metadata.Configuration)
	before := maps.Clone(metadata.Configuration)
	for _, name := range c.Unset {
		if _, both := c.Set[name]; both {
			faults = append(faults, fmt.Errorf("table property %s: it is to be set and unset; leave one out", name))
		}
		if p, fault := FindProperty(name); fault != nil {
			faults = append(faults, fault)
		} else if p != nil && p.Pattern == p.Example && before[name] != "" && before[name] != p.Example {
			faults = append(faults, fmt.Errorf("table property %s: it belongs to a feature that this version does not turn off; use another engine", name))
		}
		delete(metadata.Configuration, name)
	}
	maps.Copy(metadata.Configuration, c.Set)
	was, _ := schema.ParseMapping(before[mappingProperty])
	if m, ok := schema.ParseMapping(metadata.Configuration[mappingProperty]); ok && m != was {
		faults = append(faults, fmt.Errorf("table property %s: it can be set only when a table is created, since its columns get ids then; leave it out", mappingProperty))
	}
	isOn := func(properties map[string]string) bool {
		return strings.EqualFold(properties[timestampsProperty], "true")
	}
	if isOn(metadata.Configuration) && !isOn(before) {
		faults = append(faults, fmt.Errorf("table property %s: it can be turned on only when a table is created, since all commits have a timestamp then; leave it out", timestampsProperty))
	}
	clustering, err := clusteringFaults(head, metadata.Configuration)
	if err != nil {
		return commitlog.Commit{}, err
	}
	if err := argument(errors.Join(append(faults, clustering...)...)); err != nil {
		return commitlog.Commit{}, err
	}
	if maps.Equal(before, metadata.Configuration) {
		return commitlog.Commit{}, nil
	}
	upgraded, err := protocol.With(create.propertyFeatures()...)
	if err != nil {
		return commitlog.Commit{}, err
	}
	out := commitlog.Commit{Metadata: &metadata, Info: c.info()}
	if !upgraded.Equal(protocol) {
		out.Protocol = &upgraded
	}
	return out, nil
}

// clusteringFaults refuses properties with which other writers would no longer gather statistics of columns that the table is
// clustered by.
func clusteringFaults(head *commitlog.Head, properties map[string]string) (faults []error, err error) {
	paths, err := head.ClusteringColumns()
	if err != nil {
		return nil, err
	}
	columns := commitlog.DottedPaths(paths)
	if _, before := clusteringPaths(head.Schema(), nil, head.Metadata.Configuration, columns); len(before) > 0 {
		return nil, nil // they do not now
	}
	_, faults = clusteringPaths(head.Schema(), nil, properties, columns)
	return faults, nil
}

// info is in the words of Spark, which has a commit for each of the two.
func (c *Change) info() *commitlog.CommitInfo {
	if len(c.Set) > 0 {
		return &commitlog.CommitInfo{Operation: "SET TBLPROPERTIES", OperationParameters: map[string]any{"properties": jsonText(c.Set)}}
	}
	return &commitlog.CommitInfo{
		Operation:           "UNSET TBLPROPERTIES",
		OperationParameters: map[string]any{"properties": jsonText(slices.Sorted(slices.Values(c.Unset))), "ifExists": "true"},
	}
}
