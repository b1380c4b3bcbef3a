package commitlog

import (
	"strconv"

	"github.com/sluicedata/sluice/schema"
)

// Protocol is the protocol action: what a reader and a writer of the table have to know ("Protocol Evolution").
// The feature lists are nil when absent; an empty list is not the same.
type Protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitzero"` // there iff MinReaderVersion is 3
	WriterFeatures   []string `json:"writerFeatures,omitzero"` // there iff MinWriterVersion is 7
}

// Metadata is the metaData action ("Change Metadata"). It replaces the whole of the table's metadata.
type Metadata struct {
	ID               string            `json:"id"` // a UUID; never changes in a table's life
	Name             string            `json:"name,omitempty"`
	Description      string            `json:"description,omitempty"`
	Format           Format            `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      int64             `json:"createdTime,omitempty"` // ms since the epoch
}

// Format is how the table's data files are encoded; the protocol allows only "parquet".
type Format struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// Schema parses the schemaString. The type is a struct. It knows nothing of column mapping, which Head.Schema and State.Schema
// do.
func (m Metadata) Schema() (*schema.Type, error) { return schema.ParseJSON(m.SchemaString) }

// Add is the add action: a data file that belongs to the table from this version on ("Add File and Remove File").
type Add struct {
	Path                    string             `json:"path"` // as in the log; see PathDecode
	PartitionValues         map[string]*string `json:"partitionValues"`
	Size                    int64              `json:"size"`             // bytes
	ModificationTime        int64              `json:"modificationTime"` // ms since the epoch
	DataChange              bool               `json:"dataChange"`
	Stats                   string             `json:"stats,omitempty"` // a JSON object, as text
	Tags                    map[string]string  `json:"tags,omitempty"`
	DeletionVector          *DeletionVector    `json:"deletionVector,omitzero"`
	BaseRowID               *int64             `json:"baseRowId,omitzero"`
	DefaultRowCommitVersion *int64             `json:"defaultRowCommitVersion,omitzero"`
	ClusteringProvider      string             `json:"clusteringProvider,omitempty"`
}

// Key is what replay knows the file by: two actions with equal keys are about the same logical file.
func (a *Add) Key() FileKey { return FileKey{Path: CanonicalPath(a.Path), DV: a.DeletionVector.ID()} }

// Remove is the remove action: a file that no longer belongs to the table, and may be deleted once its retention is
// over.
type Remove struct {
	Path                    string             `json:"path"`              // byte for byte the add's
	DeletionTimestamp       int64              `json:"deletionTimestamp"` // ms since the epoch; 0, as when missing, is long expired
	DataChange              bool               `json:"dataChange"`
	ExtendedFileMetadata    bool               `json:"extendedFileMetadata,omitempty"` // PartitionValues and Size are there
	PartitionValues         map[string]*string `json:"partitionValues,omitzero"`
	Size                    *int64             `json:"size,omitzero"` // bytes
	Stats                   string             `json:"stats,omitempty"`
	Tags                    map[string]string  `json:"tags,omitempty"`
	DeletionVector          *DeletionVector    `json:"deletionVector,omitzero"`
	BaseRowID               *int64             `json:"baseRowId,omitzero"`
	DefaultRowCommitVersion *int64             `json:"defaultRowCommitVersion,omitzero"`
}

// Key is what replay knows the file by.
func (r *Remove) Key() FileKey {
	return FileKey{Path: CanonicalPath(r.Path), DV: r.DeletionVector.ID()}
}

// FileKey identifies a logical file: a path and the rows deleted from it ("Action Reconciliation").
type FileKey struct {
	Path string // a CanonicalPath
	DV   string // DeletionVector.ID; empty without one
}

// DeletionVector describes which rows of a file are deleted ("Deletion Vector Descriptor Schema").
type DeletionVector struct {
	StorageType    string `json:"storageType"`
	PathOrInlineDv string `json:"pathOrInlineDv"`
	Offset         *int32 `json:"offset,omitzero"`
	SizeInBytes    int32  `json:"sizeInBytes"`
	Cardinality    int64  `json:"cardinality"` // rows deleted
}

// ID is the vector's unique id, empty for none.
func (d *DeletionVector) ID() string {
	switch {
	case d == nil:
		return ""
	case d.Offset == nil:
		return d.StorageType + d.PathOrInlineDv
	default:
		return d.StorageType + d.PathOrInlineDv + "@" + strconv.FormatInt(int64(*d.Offset), 10)
	}
}

// CDC is the cdc action: a file of row-level changes. It is no part of the table's state ("Add CDC File").
type CDC struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"` // bytes
	DataChange      bool               `json:"dataChange"`
	Tags            map[string]string  `json:"tags,omitempty"`
}

// Txn is the txn action: how far an application has got with the table ("Transaction Identifiers"). For Sluice, Version
// is the id of the batch.
type Txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated int64  `json:"lastUpdated,omitempty"` // ms since the epoch
}

// DomainMetadata is the domainMetadata action: a named setting with an owner of its own ("Domain Metadata").
type DomainMetadata struct {
	Domain        string `json:"domain"`
	Configuration string `json:"configuration"`
	Removed       bool   `json:"removed"`
}
