package commitlog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Table properties that decide whether a feature is in use.
const (
	propAppendOnly         = "delta.appendOnly"
	propConstraintPrefix   = "delta.constraints."
	propInCommitTimestamps = "delta.enableInCommitTimestamps"
	propICTVersion         = "delta.inCommitTimestampEnablementVersion"
	propICTTimestamp       = "delta.inCommitTimestampEnablementTimestamp"
	propIsolation          = "delta.isolationLevel"
	propTxnRetention       = "delta.setTransactionRetentionDuration"
)

// The keys of a field's metadata that decide the same.
const (
	fieldInvariants     = "delta.invariants"
	fieldGeneration     = "delta.generationExpression"
	fieldDefault        = "CURRENT_DEFAULT"
	fieldIdentityPrefix = "delta.identity."
	gateReading         = "reading"
	gateWriting         = "writing"
)

// gate checks a head whose protocol, metadata or domains are new, and prepares what depends on them. An error means that the table
// cannot be read: an *UnsupportedError, or a *CorruptError at the head's version.
func (h *Head) gate() error {
	t, err := gateRead(h.table, h.Version, h.Protocol, h.Metadata)
	if err != nil {
		return err
	}
	h.schema = t.schema
	h.clustering = clusteringOf(h.Protocol, h.Metadata, h.schema, h.Domains)
	h.unwritable = t.writing()
	if h.unwritable == nil && h.clustering.err != nil {
		h.unwritable = &UnsupportedError{Table: h.table, Features: []string{featureClustering}, For: gateWriting, Detail: h.clustering.err.Error()}
	}
	return nil
}

// gateRead tells whether a table with this protocol and metadata can be read.
func gateRead(table string, version int64, p Protocol, m Metadata) (*gated, error) {
	corrupt := func(err error) error { return &CorruptError{Table: table, Version: version, Reason: err.Error()} }
	if err := p.check(); err != nil {
		return nil, corrupt(err)
	}
	if !strings.EqualFold(m.Format.Provider, "parquet") {
		return nil, corrupt(fmt.Errorf("metaData.format.provider is %q, not parquet", m.Format.Provider))
	}
	t := &gated{table: table, protocol: p, metadata: m}
	if err := t.versions(gateReading, p.MinReaderVersion > maxReaderVersion, false); err != nil {
		return nil, err
	}
	usage, err := parseUsage(m.SchemaString)
	if err != nil {
		return nil, corrupt(fmt.Errorf("metaData.schemaString: %w", err))
	}
	t.usage = usage
	if err := t.reading(); err != nil {
		return nil, err
	}
	if t.schema, err = m.Schema(); err != nil {
		return nil, corrupt(fmt.Errorf("metaData.schemaString: %w", err))
	}
	if err := t.schema.CheckTypeChanges(); err != nil {
		return nil, &UnsupportedError{Table: table, Features: []string{featureTypeWidening}, For: gateReading, Detail: err.Error()}
	}
	mode, _ := columnMapping(p, m)
	if t.schema, err = t.schema.Mapped(mode); err != nil {
		return nil, corrupt(fmt.Errorf("metaData.schemaString: %w", err))
	}
	for _, typed := range []struct{ name, feature, old string }{
		{"timestamp_ntz", featureTimestampNTZ, featureTimestampNTZ}, {"variant", featureVariant, featureVariantOld},
	} {
		column, used := usage.types[typed.name]
		if used && !slices.Contains(p.reads(), typed.feature) && !slices.Contains(p.reads(), typed.old) {
			return nil, corrupt(fmt.Errorf("column %s is %s, but the protocol lacks the feature %s", column, typed.name, typed.feature))
		}
	}
	return t, nil
}

// refusal collects features that stand against a use of the table.
type refusal struct {
	features, details []string
}

func (r *refusal) add(feature, detail string) {
	if !slices.Contains(r.features, feature) {
		r.features = append(r.features, feature)
	}
	if detail != "" {
		r.details = append(r.details, detail)
	}
}

func (r *refusal) err(table, use string) error {
	if len(r.features) == 0 {
		return nil
	}
	return &UnsupportedError{Table: table, Features: r.features, For: use, Detail: strings.Join(r.details, "; ")}
}

// versions refuses protocol versions above those known.
func (t *gated) versions(use string, reader, writer bool) error {
	var r refusal
	if reader {
		r.add("reader version "+strconv.Itoa(t.protocol.MinReaderVersion), "")
	}
	if writer {
		r.add("writer version "+strconv.Itoa(t.protocol.MinWriterVersion), "")
	}
	return r.err(t.table, use)
}

// reading refuses reader features that Sluice does not know, or that the table uses in a way that it cannot follow.
func (t *gated) reading() error {
	var r refusal
	for _, f := range t.protocol.reads() {
		if s, _ := supportOf(f); !s.read {
			r.add(f, "")
		}
	}
	if _, known := columnMapping(t.protocol, t.metadata); !known {
		r.add(featureColumnMapping, propColumnMapping+"="+t.metadata.Configuration[propColumnMapping])
	}
	return r.err(t.table, gateReading)
}

// writing refuses writer features that Sluice does not know, and all that an append would have to evaluate.
func (t *gated) writing() error {
	if err := t.versions(gateWriting, false, t.protocol.MinWriterVersion > maxWriterVersion); err != nil {
		return err
	}
	var r refusal
	for _, f := range t.protocol.writes() {
		if s, _ := supportOf(f); !s.append {
			r.add(f, "")
		}
	}
	for _, use := range []struct{ key, feature string }{
		{fieldInvariants, featureInvariants},
		{fieldGeneration, featureGeneratedColumns},
		{fieldDefault, featureColumnDefaults},
	} {
		if column, used := t.usage.keys[use.key]; used {
			r.add(use.feature, "column "+column+" has "+use.key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.usage.keys)) {
		if strings.HasPrefix(key, fieldIdentityPrefix) {
			r.add(featureIdentityColumns, "column "+t.usage.keys[key]+" has "+key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.metadata.Configuration)) {
		if strings.HasPrefix(key, propConstraintPrefix) {
			r.add(featureCheckConstraints, key)
		}
	}
	return r.err(t.table, gateWriting)
}
