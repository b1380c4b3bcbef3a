package table

import (
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// storedColumns are the columns that data files have: all but the partition columns and those that are void, inside structs
// as well.
func storedColumns(t *schema.Type, partitions []string) *schema.Type {
	stored := &schema.Type{Kind: schema.Struct}
	for _, f := range t.Fields {
		if f.Type.Kind == schema.Void || slices.Contains(partitions, f.Name) {
			continue
		}
		if f.Type.Kind == schema.Struct {
			f.Type = storedColumns(f.Type, nil)
		}
		stored.Fields = append(stored.Fields, f)
	}
	return stored
}

// fileColumn finds a field's column in a group of a file; nil when the file has none.
func fileColumn(group *parquet.Column, f *schema.Field) *parquet.Column {
	if !f.Stored.ByID {
		return group.Column(f.StoredName())
	}
	for _, c := range group.Columns() {
		if c.ID() == f.Stored.ID {
			return c
		}
	}
	return nil
}

// lacksIDs says whether a file that is searched by ids has none at all: it was written before the table had them, and all its
// columns would be null.
func lacksIDs(t *schema.Type, root *parquet.Column) bool {
	return slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return f.Stored.ByID }) &&
		!slices.ContainsFunc(root.Columns(), func(c *parquet.Column) bool { return c.ID() != 0 })
}
