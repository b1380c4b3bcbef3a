package commitlog

import (
	"fmt"
	"slices"
)

// Names of table features ("Valid Feature Names in Table Features"), those that rules here speak of.
const (
	featureAppendOnly        = "appendOnly"
	featureInvariants        = "invariants"
	featureCheckConstraints  = "checkConstraints"
	featureChangeDataFeed    = "changeDataFeed"
	featureGeneratedColumns  = "generatedColumns"
	featureColumnDefaults    = "allowColumnDefaults"
	featureIdentityColumns   = "identityColumns"
	featureColumnMapping     = "columnMapping"
	featureDeletionVectors   = "deletionVectors"
	featureTimestampNTZ      = "timestampNtz"
	featureV2Checkpoint      = "v2Checkpoint"
	featureDomainMetadata    = "domainMetadata"
	featureInCommitTimestamp = "inCommitTimestamp"
	featureVacuumCheck       = "vacuumProtocolCheck"
	featureTypeWidening      = "typeWidening"
	featureTypeWideningOld   = "typeWidening-preview"
	featureCheckpointProtect = "checkpointProtection"
	featureRowTracking       = "rowTracking"
	featureClustering        = "clustering"
	featureIcebergV1         = "icebergCompatV1"
	featureIcebergV2         = "icebergCompatV2"
	featureIcebergV3         = "icebergCompatV3"
	featureVariant           = "variantType"
	featureVariantOld        = "variantType-preview"
	featureShredding         = "variantShredding"
	featureShreddingOld      = "variantShredding-preview"
	maxReaderVersion         = 3
	maxWriterVersion         = 7
)

// support says what Sluice can do with tables that have a feature, as long as nothing in the table uses it in a way that
// activity checks refuse.
type support struct {
	readerWriter bool // a reader has to know it too
	read, append bool
}

// supportOf is the table of features. What is not in it is refused: for writing always, for reading when the table lists
// it among its reader features.
func supportOf(feature string) (support, bool) {
	switch feature {
	case featureAppendOnly, featureInvariants, featureCheckConstraints, featureChangeDataFeed, featureGeneratedColumns,
		featureColumnDefaults, featureIdentityColumns, featureDomainMetadata, featureInCommitTimestamp,
		featureCheckpointProtect, featureClustering:
		return support{append: true}, true
	case featureColumnMapping, featureDeletionVectors, featureTimestampNTZ, featureV2Checkpoint, featureVacuumCheck,
		featureTypeWidening, featureTypeWideningOld:
		return support{readerWriter: true, read: true, append: true}, true
	case featureVariant, featureVariantOld, featureShredding, featureShreddingOld:
		return support{readerWriter: true, read: true}, true
	case featureRowTracking, featureIcebergV1, featureIcebergV2, featureIcebergV3:
		return support{}, true
	}
	return support{}, false
}

// impliedFeatures lists what a writer version below 7 stands for.
func impliedFeatures(writerVersion int) []string {
	byVersion := [][]string{
		2: {featureAppendOnly, featureInvariants},
		3: {featureCheckConstraints},
		4: {featureChangeDataFeed, featureGeneratedColumns},
		5: {featureColumnMapping},
		6: {featureIdentityColumns},
	}
	var list []string
	for v := 2; v <= min(writerVersion, 6); v++ {
		list = append(list, byVersion[v]...)
	}
	return list
}

// Supports tells whether the protocol has a feature that concerns writers, by name or implied by its version.
func (p Protocol) Supports(feature string) bool { return slices.Contains(p.writes(), feature) }

// Features lists all that a writer has to know, by name or implied by the version.
func (p Protocol) Features() []string { return slices.Clone(p.writes()) }

// writes lists the features that a writer has to know.
func (p Protocol) writes() []string {
	if p.MinWriterVersion == maxWriterVersion {
		return p.WriterFeatures
	}
	return impliedFeatures(p.MinWriterVersion)
}

// reads lists the features that a reader has to know.
func (p Protocol) reads() []string {
	switch p.MinReaderVersion {
	case maxReaderVersion:
		return p.ReaderFeatures
	case 2:
		return []string{featureColumnMapping}
	}
	return nil
}

// check refuses a protocol that contradicts itself ("Table Features for new and Existing Tables"). Versions above those
// known pass: they are unsupported, not wrong. So does a reader's feature that only writerFeatures lists, since Spark
// has written such tables.
func (p Protocol) check() error {
	r, w := p.MinReaderVersion, p.MinWriterVersion
	switch {
	case r < 1 || w < 1:
		return fmt.Errorf("protocol (%d,%d) has a version below 1", r, w)
	case r > maxReaderVersion || w > maxWriterVersion:
		return nil
	case (p.ReaderFeatures != nil) != (r == maxReaderVersion):
		return fmt.Errorf("protocol (%d,%d): readerFeatures belong to minReaderVersion 3, and only to it", r, w)
	case (p.WriterFeatures != nil) != (w == maxWriterVersion):
		return fmt.Errorf("protocol (%d,%d): writerFeatures belong to minWriterVersion 7, and only to it", r, w)
	case r == maxReaderVersion && w != maxWriterVersion:
		return fmt.Errorf("protocol (%d,%d): minReaderVersion 3 needs minWriterVersion 7", r, w)
	}
	for _, f := range p.ReaderFeatures {
		s, known := supportOf(f)
		switch {
		case known && !s.readerWriter:
			return fmt.Errorf("protocol (%d,%d): readerFeatures has %s, which concerns writers only", r, w, f)
		case !slices.Contains(p.WriterFeatures, f):
			return fmt.Errorf("protocol (%d,%d): readerFeatures has %s, which writerFeatures has not", r, w, f)
		}
	}
	return nil
}
