package table

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/schema"
)

// Table properties of column mapping (PROTOCOL.md, "Column Mapping").
const (
	mappingProperty     = "delta.columnMapping.mode"
	maxColumnIDProperty = "delta.columnMapping.maxColumnId"
)

// mapping is the column mapping that the table is to have.
func (c *Create) mapping() (schema.Mapping, error) {
	mode := c.Properties[mappingProperty]
	m, ok := schema.ParseMapping(mode)
	if !ok {
		return m, fmt.Errorf("table property %s is %q; set it to none, name or id", mappingProperty, mode)
	}
	return m, nil
}

// mapped returns the table with ids and physical names for its columns, if it is to have column mapping.
func (c *Create) mapped() (*Create, error) {
	m, err := c.mapping()
	if err != nil || m == schema.Unmapped {
		return c, err
	}
	t, last, err := c.Schema.AssignIDs(m, 0, func() string { return "col-" + uuid.NewString() })
	if err != nil {
		return nil, fmt.Errorf("create table: %w", err)
	}
	properties := maps.Clone(c.Properties)
	properties[maxColumnIDProperty] = strconv.Itoa(last)
	return &Create{Schema: t, PartitionColumns: c.PartitionColumns, ClusterBy: c.ClusterBy, Properties: properties}, nil
}
