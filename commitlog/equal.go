package commitlog

import (
	"maps"
	"slices"
)

// Equal says whether both ask the same of readers and writers.
func (p Protocol) Equal(o Protocol) bool {
	return p.MinReaderVersion == o.MinReaderVersion && p.MinWriterVersion == o.MinWriterVersion &&
		sameSet(p.ReaderFeatures, o.ReaderFeatures) && sameSet(p.WriterFeatures, o.WriterFeatures)
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Equal says whether both describe the same table.
func (m Metadata) Equal(o Metadata) bool {
	return m.ID == o.ID && m.Name == o.Name && m.Description == o.Description && m.SchemaString == o.SchemaString && m.CreatedTime == o.CreatedTime &&
		m.Format.Provider == o.Format.Provider && maps.Equal(m.Format.Options, o.Format.Options) &&
		slices.Equal(m.PartitionColumns, o.PartitionColumns) && maps.Equal(m.Configuration, o.Configuration)
}
