package pipeline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// property is a table property of Delta's that can be set, and the texts that it takes.
type property struct {
	name    string
	pattern string // whole value, case-insensitive
	example string
}

const (
	trueOrFalse = `true|false`
	onlyFalse   = `false` // the feature behind it is above the tables that are written
	positive    = `[1-9][0-9]{0,9}`
	interval    = `(interval +)?[0-9]{1,9} +(microsecond|millisecond|second|minute|hour|day|week)s?` +
		`( +[0-9]{1,9} +(microsecond|millisecond|second|minute|hour|day|week)s?)*`
)

// tableProperties returns the delta.* properties that are known (PROTOCOL.md and Delta's DeltaConfigs).
func tableProperties() []property {
	return []property{
		{"delta.appendOnly", trueOrFalse, "true"},
		{"delta.autoOptimize.autoCompact", trueOrFalse + "|auto", "false"},
		{"delta.autoOptimize.optimizeWrite", trueOrFalse, "false"},
		{"delta.checkpoint.writeStatsAsJson", trueOrFalse, "true"},
		{"delta.checkpoint.writeStatsAsStruct", trueOrFalse, "true"},
		{"delta.checkpointInterval", positive, "100"},
		{"delta.checkpointPolicy", `classic`, "classic"},
		{"delta.columnMapping.mode", `none|name|id`, "name"},
		{"delta.dataSkippingNumIndexedCols", `-1|0|` + positive, "32"},
		{"delta.dataSkippingStatsColumns", `.+`, "id,ts"},
		{"delta.dataSkippingStringPrefixLength", positive, "32"},
		{"delta.deletedFileRetentionDuration", interval, "interval 1 week"},
		{"delta.enableChangeDataFeed", onlyFalse, "false"},
		{"delta.enableDeletionVectors", onlyFalse, "false"},
		{"delta.enableExpiredLogCleanup", trueOrFalse, "true"},
		{"delta.enableInCommitTimestamps", onlyFalse, "false"},
		{"delta.enableRowTracking", onlyFalse, "false"},
		{"delta.enableTypeWidening", onlyFalse, "false"},
		{"delta.isolationLevel", `Serializable|WriteSerializable`, "Serializable"},
		{"delta.logRetentionDuration", interval, "interval 30 days"},
		{"delta.parquet.compression.codec", `snappy|zstd|gzip|uncompressed`, "zstd"},
		{"delta.parquet.format.version", `1\.0\.0|2\.12\.0`, "1.0.0"},
		{"delta.randomizeFilePrefixes", trueOrFalse, "false"},
		{"delta.randomPrefixLength", positive, "2"},
		{"delta.targetFileSize", positive + `[0-9]{0,8}|` + positive + `(kb|mb|gb)`, "134217728"},
		{"delta.tuneFileSizesForRewrites", trueOrFalse, "false"},
	}
}

func (r *reader) properties(v value) map[string]string {
	pairs, _ := r.pairs(v, `a mapping such as {delta.appendOnly: "true"}`)
	out := map[string]string{}
	for _, p := range pairs {
		key := value{p.value.path, p.keyNode}
		if p.key == "" {
			r.fault(key, "a property has an empty name", "give it a name")
			continue
		}
		s, ok := r.textScalar(p.value, `"true"`)
		if strings.HasPrefix(strings.ToLower(p.key), "delta.") {
			ok = r.deltaProperty(key, p.key, s, ok) && ok
		}
		if ok {
			out[p.key] = s.text
		}
	}
	return out
}

// deltaProperty checks a property whose meaning Delta defines. The value is checked only if it could be read.
func (r *reader) deltaProperty(key value, name string, s scalar, read bool) bool {
	if problem, fix := forbiddenProperty(name); problem != "" {
		r.fault(key, problem, fix)
		return false
	}
	known := tableProperties()
	i := slices.IndexFunc(known, func(p property) bool { return p.name == name })
	if i < 0 {
		var names []string
		for _, p := range known {
			names = append(names, p.name)
		}
		fix := "delete it; names of your own are without delta."
		if near, ok := nearest(name, names); ok {
			fix = fmt.Sprintf("did you mean %s?", near)
		}
		r.fault(key, fmt.Sprintf("unknown table property %q", name), fix)
		return false
	}
	if read && !regexp.MustCompile(`^(?i:`+known[i].pattern+`)$`).MatchString(s.text) {
		problem := s.shown() + " is not a value of " + name
		if known[i].pattern == onlyFalse || known[i].pattern == known[i].example {
			problem = fmt.Sprintf("%s asks for a table feature that this version does not write", s.shown())
		}
		r.fault(s.value, problem, "write "+strconv.Quote(known[i].example))
		return false
	}
	return true
}

// forbiddenProperty says why a property that Delta knows is not to be set from here.
func forbiddenProperty(name string) (problem, fix string) {
	lower := strings.ToLower(name)
	switch {
	case lower == "delta.settransactionretentionduration":
		return "would let engines delete the record of which batches are in the table, and batches would then be refused", "delete it"
	case lower == "delta.minreaderversion", lower == "delta.minwriterversion", strings.HasPrefix(lower, "delta.feature."):
		return "is the table's protocol, not a property", "delete it: the lowest protocol that fits is written"
	case strings.HasPrefix(lower, "delta.constraints."):
		return "is a CHECK constraint, which this version does not evaluate", "delete it"
	default:
		return "", ""
	}
}
