package table

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// Create is the table that an append makes when there is none, and the schema of what it writes when there is one.
type Create struct {
	Schema           *schema.Type
	PartitionColumns []string
	ClusterBy        []string          // dotted names of columns; a table has these or partition columns
	Properties       map[string]string // delta.*, as strings
}

// Check returns all that stands against making such a table, as an *ArgumentError, nil when nothing does. It does no I/O.
func (c *Create) Check() error {
	if c.Schema == nil || c.Schema.Kind != schema.Struct || len(c.Schema.Fields) == 0 {
		return argument(errors.New("create table: it has no columns; declare at least one"))
	}
	mapping, _ := c.mapping() // checkProperties tells of another
	faults := c.Schema.CheckNames(mapping)
	faults = append(faults, checkStorable("", c.Schema)...)
	faults = append(faults, c.checkPartitions()...)
	faults = append(faults, c.checkProperties()...)
	_, clustering := clusteringPaths(c.Schema, c.PartitionColumns, c.Properties, c.ClusterBy)
	faults = append(faults, clustering...)
	if err := errors.Join(faults...); err != nil {
		return argument(fmt.Errorf("create table: %w", err))
	}
	return nil
}

// checkAgainst says why what is to be written does not fit a table that is there already; c may be nil.
func (c *Create) checkAgainst(head *commitlog.Head) error {
	if err := head.Writable(); err != nil {
		return err
	}
	if c == nil {
		return nil
	}
	if columns := head.Metadata.PartitionColumns; len(c.PartitionColumns) > 0 && !slices.Equal(c.PartitionColumns, columns) {
		return &SchemaError{Faults: []error{fmt.Errorf("the table is partitioned by %q, not by %q, and that cannot be changed; write what it has, or another table",
			columns, c.PartitionColumns)}}
	}
	if c.Schema == nil {
		return nil
	}
	return checkFits(c.Schema, head.Schema(), false)
}

func (c *Create) checkPartitions() []error {
	var faults []error
	for i, name := range c.PartitionColumns {
		at := c.Schema.Index(name)
		switch {
		case at < 0:
			faults = append(faults, fmt.Errorf("partition by column %s: there is no such column; declare it, or leave it out", name))
		case slices.Contains(c.PartitionColumns[:i], name):
			faults = append(faults, fmt.Errorf("partition by column %s: it is named twice; leave one out", name))
		default:
			if err := checkPartitionType(name, c.Schema.Fields[at].Type); err != nil {
				faults = append(faults, err)
			}
		}
	}
	if len(faults) == 0 && len(c.PartitionColumns) == len(c.Schema.Fields) {
		faults = append(faults, errors.New("all columns are partition columns, which leaves none for the files; leave one out"))
	}
	return faults
}

// checkStorable finds what Parquet has no form for.
func checkStorable(path string, t *schema.Type) []error {
	var faults []error
	if t.Kind == schema.Void || t.Kind == schema.Variant {
		faults = append(faults, fmt.Errorf("column %s is %s, which cannot be stored; give it another type", path, t))
	}
	if t.Kind == schema.Struct {
		if len(t.Fields) == 0 {
			faults = append(faults, fmt.Errorf("column %s is a struct without fields that can be stored; give it one", path))
		}
		for i := range t.Fields {
			faults = append(faults, checkStorable(join(path, t.Fields[i].Name), t.Fields[i].Type)...)
		}
	}
	if t.Key != nil {
		faults = append(faults, checkStorable(path+".key", t.Key)...)
	}
	if t.Elem != nil {
		faults = append(faults, checkStorable(path+".element", t.Elem)...)
	}
	return faults
}

// checkProperties refuses properties that are not known, or ask for a feature that is not written, and values that nothing can
// be made of.
func (c *Create) checkProperties() []error {
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(c.Properties)) {
		if _, fault := CheckProperty(key, c.Properties[key]); fault != nil {
			faults = append(faults, fault)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	if _, err := c.mapping(); err != nil {
		faults = append(faults, err)
	}
	if _, err := codecOf(c.Properties, codec{}); err != nil {
		faults = append(faults, err)
	}
	if _, err := compactOf(c.Properties); err != nil {
		faults = append(faults, err)
	}
	if _, err := statsChoiceOf(c.Properties); err != nil {
		faults = append(faults, err)
	}
	for _, sizeOf := range []func(map[string]string) (int64, error){targetSizeOf, groupSizeOf, pageSizeOf} {
		if _, err := sizeOf(c.Properties); err != nil {
			faults = append(faults, err)
		}
	}
	columns, _ := columnsOf(c.Schema)
	for _, path := range commitlog.ColumnNames(c.Properties[commitlog.StatsColumnsProperty]) {
		if findColumn(columns, path) == nil {
			faults = append(faults, fmt.Errorf("table property %s names %q, which is no column; leave it out", commitlog.StatsColumnsProperty, path))
		}
	}
	if err := checkBloom(columns, c.Properties); err != nil {
		faults = append(faults, err)
	}
	return faults
}

// features are the table features that the schema and the properties ask for.
func (c *Create) features() []string {
	list := c.propertyFeatures()
	if c.Schema.Contains(schema.TimestampNTZ) {
		list = append(list, "timestampNtz")
	}
	if len(c.ClusterBy) > 0 {
		list = append(list, commitlog.ClusteringFeatures()...)
	}
	return list
}

func (c *Create) propertyFeatures() []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(c.Properties)) {
		if feature, _ := CheckProperty(key, c.Properties[key]); feature != "" {
			list = append(list, feature)
		}
	}
	return list
}

// actions are those of version 0.
func (c *Create) actions(now time.Time) (commitlog.Commit, error) {
	var out commitlog.Commit
	protocol, err := commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}.With(c.features()...)
	if err != nil {
		return out, err
	}
	if len(c.ClusterBy) > 0 {
		paths, _ := clusteringPaths(c.Schema, nil, c.Properties, c.ClusterBy)
		out.Domains = []commitlog.DomainMetadata{commitlog.ClusterBy(c.Schema, paths)}
	}
	properties := maps.Clone(c.Properties)
	if properties == nil {
		properties = map[string]string{}
	}
	out.Protocol, out.Metadata = &protocol, &commitlog.Metadata{
		ID:               uuid.NewString(),
		Format:           commitlog.Format{Provider: "parquet", Options: map[string]string{}},
		SchemaString:     c.Schema.JSON(),
		PartitionColumns: append([]string{}, c.PartitionColumns...),
		Configuration:    properties,
		CreatedTime:      now.UnixMilli(),
	}
	return out, nil
}
