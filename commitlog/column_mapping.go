package commitlog

import (
	"slices"

	"github.com/sluicedata/sluice/schema"
)

// propColumnMapping is the mode of column mapping: none, name or id.
const propColumnMapping = "delta.columnMapping.mode"

// columnMapping is how the table's columns are known in its files. The property counts only where the protocol has the feature
// ("Column Mapping"); that is taken from either list, since Spark has written tables that name it for writers alone. ok is
// false for a mode that is not known.
func columnMapping(p Protocol, m Metadata) (mode schema.Mapping, ok bool) {
	if !slices.Contains(p.reads(), featureColumnMapping) && !p.Supports(featureColumnMapping) {
		return schema.Unmapped, true
	}
	return schema.ParseMapping(m.Configuration[propColumnMapping])
}

// storedPartitionColumns are the partition columns as partition values name them.
func (h *Head) storedPartitionColumns() []string {
	names := slices.Clone(h.Metadata.PartitionColumns)
	for i, name := range names {
		if at := h.schema.Index(name); at >= 0 {
			names[i] = h.schema.Fields[at].StoredName()
		}
	}
	return names
}
