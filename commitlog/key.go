package commitlog

import (
	"fmt"
	"strconv"
	"strings"
)

// logDir is the prefix of all of the log's keys in the table's store.
const logDir = "_delta_log/"

// versionDigits is the width of a version in names ("Delta Log Entries").
const versionDigits = 20

// InLog says whether a key in the table's store is of its log.
func InLog(key string) bool { return strings.HasPrefix(key, logDir) }

// commitKey is the key of a version's commit file.
func commitKey(version int64) string { return fmt.Sprintf("%s%020d.json", logDir, version) }

// checkpointKey is the key of a version's classic log checkpoint ("Classic checkpoint").
func checkpointKey(version int64) string {
	return fmt.Sprintf("%s%020d.checkpoint.parquet", logDir, version)
}

// hintKey is the key of what tells of the newest log checkpoint ("Last Checkpoint File").
const hintKey = logDir + "_last_checkpoint"

// sidecarDir is the prefix of the keys of sidecars ("Sidecar Files").
const sidecarDir = logDir + "_sidecars/"

// listAfter is the key after which the files of a version and of later ones are listed.
func listAfter(version int64) string {
	if version <= 0 {
		return ""
	}
	return fmt.Sprintf("%s%020d", logDir, version)
}

// listed is a file of the log, known by its name.
type listed struct {
	version int64
	commit  bool
	part    int64 // of a checkpoint, from 1
	parts   int64 // of a checkpoint; 0 for a commit
}

// parseKey tells what a name in the log stands for. Names that are neither a commit nor a log checkpoint mean nothing to
// a reader: temporary files, checksums, log compactions, staged commits.
func parseKey(key string) (listed, bool) {
	name, ok := strings.CutPrefix(key, logDir)
	if !ok || len(name) <= versionDigits {
		return listed{}, false
	}
	version, ok := parseDigits(name[:versionDigits])
	if !ok {
		return listed{}, false
	}
	rest := name[versionDigits:]
	if rest == ".json" {
		return listed{version: version, commit: true}, true
	}
	rest, ok = strings.CutPrefix(rest, ".checkpoint.")
	if !ok {
		return listed{}, false
	}
	return parseCheckpoint(version, strings.Split(rest, "."))
}

// parseCheckpoint takes the dot-separated rest of a checkpoint's name: parquet; <part>.<parts>.parquet; <uuid>.parquet or
// <uuid>.json.
func parseCheckpoint(version int64, rest []string) (listed, bool) {
	l := listed{version: version, part: 1, parts: 1}
	switch {
	case len(rest) == 1 && rest[0] == "parquet":
		return l, true
	case len(rest) == 2 && rest[0] != "" && (rest[1] == "parquet" || rest[1] == "json"):
		return l, true
	case len(rest) == 3 && len(rest[0]) == 10 && len(rest[1]) == 10 && rest[2] == "parquet":
		part, ok1 := parseDigits(rest[0])
		parts, ok2 := parseDigits(rest[1])
		if !ok1 || !ok2 || part < 1 || part > parts {
			return listed{}, false
		}
		l.part, l.parts = part, parts
		return l, true
	}
	return listed{}, false
}

// isJSON tells a log checkpoint in JSON from one in Parquet.
func isJSON(key string) bool { return strings.HasSuffix(key, ".json") }

// parseDigits reads a decimal number that has nothing but digits.
func parseDigits(s string) (int64, bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
