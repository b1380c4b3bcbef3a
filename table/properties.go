package table

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Property is a table property whose meaning Delta or Sluice defines.
type Property struct {
	Name    string
	Pattern string // of its values, as a whole, in any case
	Example string
	// Feature is the table feature that values other than Off ask for; empty for none.
	Feature, Off string
}

const timestampsProperty = "delta.enableInCommitTimestamps"

const (
	trueOrFalse  = `true|false`
	positive     = `[1-9][0-9]{0,9}`
	intervalForm = `(interval +)?[0-9]{1,9} +(microsecond|millisecond|second|minute|hour|day|week)s?` +
		`( +[0-9]{1,9} +(microsecond|millisecond|second|minute|hour|day|week)s?)*`
	bytesForm = positive + `[0-9]{0,8}|` + positive + `(kb|mb|gb)`
)

// Properties are those that are known (PROTOCOL.md, and Delta's DeltaConfigs), by name. What they mean for values that the pattern
// takes is checked where they are read.
func Properties() []Property {
	return []Property{
		{Name: "delta.appendOnly", Pattern: trueOrFalse, Example: "true", Feature: "appendOnly", Off: "false"},
		{Name: "delta.autoOptimize.autoCompact", Pattern: trueOrFalse + "|auto", Example: "false"},
		{Name: "delta.autoOptimize.optimizeWrite", Pattern: trueOrFalse, Example: "false"},
		{Name: "delta.checkpoint.writeStatsAsJson", Pattern: trueOrFalse, Example: "true"},
		{Name: "delta.checkpoint.writeStatsAsStruct", Pattern: trueOrFalse, Example: "true"},
		{Name: "delta.checkpointInterval", Pattern: positive, Example: "100"},
		{Name: "delta.checkpointPolicy", Pattern: `classic|v2`, Example: "classic", Feature: "v2Checkpoint", Off: "classic"},
		{Name: mappingProperty, Pattern: `none|name|id`, Example: "name", Feature: "columnMapping", Off: "none"},
		{Name: "delta.dataSkippingNumIndexedCols", Pattern: `-1|0|` + positive, Example: "32"},
		{Name: "delta.dataSkippingStatsColumns", Pattern: `.+`, Example: "id,ts"},
		{Name: "delta.dataSkippingStringPrefixLength", Pattern: positive, Example: "32"},
		{Name: "delta.deletedFileRetentionDuration", Pattern: intervalForm, Example: "interval 1 week"},
		{Name: "delta.enableChangeDataFeed", Pattern: trueOrFalse, Example: "false", Feature: "changeDataFeed", Off: "false"},
		{Name: "delta.enableDeletionVectors", Pattern: trueOrFalse, Example: "false", Feature: "deletionVectors", Off: "false"},
		{Name: "delta.enableExpiredLogCleanup", Pattern: trueOrFalse, Example: "true"},
		{Name: timestampsProperty, Pattern: trueOrFalse, Example: "false", Feature: "inCommitTimestamp", Off: "false"},
		{Name: "delta.enableRowTracking", Pattern: `false`, Example: "false"},
		{Name: "delta.enableTypeWidening", Pattern: trueOrFalse, Example: "false", Feature: "typeWidening", Off: "false"},
		{Name: "delta.isolationLevel", Pattern: `Serializable|WriteSerializable`, Example: "Serializable"},
		{Name: "delta.logRetentionDuration", Pattern: intervalForm, Example: "interval 30 days"},
		{Name: "delta.parquet.compression.codec", Pattern: `snappy|zstd|lz4_?raw|gzip|uncompressed`, Example: "zstd"},
		{Name: "delta.parquet.format.version", Pattern: `1\.0\.0|2\.12\.0`, Example: "1.0.0"},
		{Name: "delta.randomizeFilePrefixes", Pattern: trueOrFalse, Example: "false"},
		{Name: "delta.randomPrefixLength", Pattern: positive, Example: "2"},
		{Name: "delta.targetFileSize", Pattern: bytesForm, Example: "134217728"},
		{Name: "delta.tuneFileSizesForRewrites", Pattern: trueOrFalse, Example: "false"},
		{Name: bloomProperty, Pattern: `.+`, Example: "id,device.serial"},
		{Name: encodingProperty, Pattern: `.+`, Example: "compact"},
		{Name: groupSizeProperty, Pattern: `.+`, Example: "64mb"},
		{Name: pageSizeProperty, Pattern: `.+`, Example: "1mb"},
	}
}

// takes says whether the property may have the value.
func (p *Property) takes(value string) bool {
	return regexp.MustCompile(`^(?i:` + p.Pattern + `)$`).MatchString(value)
}

// PropertyFault says why a property cannot be set, and what to do.
type PropertyFault struct {
	Name         string
	Value        string // that Problem is about; empty when it is about the name
	Problem, Fix string
}

func (f *PropertyFault) Error() string {
	if f.Value != "" {
		return fmt.Sprintf("table property %s: %q %s; %s", f.Name, f.Value, f.Problem, f.Fix)
	}
	return fmt.Sprintf("table property %s: %s; %s", f.Name, f.Problem, f.Fix)
}

// FindProperty finds a property by its name. It is nil for names that are the users' own, which are those without delta. and
// sluice. in front. The fault is that of a name that is not known, or not to be set.
func FindProperty(name string) (*Property, *PropertyFault) {
	lower := strings.ToLower(name)
	fault := func(problem, fix string) (*Property, *PropertyFault) {
		return nil, &PropertyFault{name, "", problem, fix}
	}
	switch {
	case lower == "delta.settransactionretentionduration":
		return fault("would let engines delete the record of which batches are in the table, and batches would then be refused", "delete it")
	case lower == "delta.minreaderversion", lower == "delta.minwriterversion", strings.HasPrefix(lower, "delta.feature."):
		return fault("is the table's protocol, not a property", "delete it: the lowest protocol that fits is written")
	case strings.HasPrefix(lower, "delta.constraints."):
		return fault("is a CHECK constraint, which this version does not evaluate", "delete it")
	case !strings.HasPrefix(lower, "delta.") && !strings.HasPrefix(lower, "sluice."):
		return nil, nil
	}
	known := Properties()
	i := slices.IndexFunc(known, func(p Property) bool { return p.Name == name })
	if i < 0 {
		return fault(fmt.Sprintf("unknown table property %q", name), "delete it; names of your own are without delta. and sluice.")
	}
	return &known[i], nil
}

// CheckProperty says what stands against a property, nil if nothing does, and which table feature it asks for; empty for none.
func CheckProperty(name, value string) (feature string, fault *PropertyFault) {
	p, fault := FindProperty(name)
	switch {
	case p == nil:
		return "", fault
	case p.takes(value) && !strings.EqualFold(value, p.Off):
		return p.Feature, nil
	case p.takes(value):
		return "", nil
	case p.Pattern == p.Example:
		return "", &PropertyFault{name, value, "asks for a table feature that this version does not write", "write " + strconv.Quote(p.Example)}
	}
	return "", &PropertyFault{name, value, "is not a value of " + name, "write " + strconv.Quote(p.Example)}
}
