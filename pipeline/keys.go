package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// section is a mapping of the file whose keys are known.
type section struct {
	name string // its path; of list items with [] for the index
	keys []string
}

// sections returns the whole vocabulary of a pipeline file, in the order of docs/pipeline.md.
func sections() []section {
	return []section{
		{"", []string{"name", "source", "columns", "table", "checkpoint", "storage", "trigger", "batch", "on_error", "memory", "maintenance"}},
		{"source", []string{"files", "kafka", "format"}},
		{"source.files", []string{"path", "settle", "overwritten", "order"}},
		{"source.kafka", []string{"brokers", "topics", "start", "isolation", "on_data_loss", "tls", "sasl", "client_id", "group"}},
		{"source.kafka.tls", []string{"ca", "cert", "key", "server_name"}},
		{"source.kafka.sasl", []string{"mechanism", "username", "password", "allow_unencrypted"}},
		{"source.format", []string{"json"}},
		{"source.format.json", []string{"layout", "max_record_bytes", "tombstones"}},
		{"columns[]", []string{"name", "type", "nullable", "from", "meta"}},
		{"table", []string{"path", "partition_by", "properties"}},
		{"storage", []string{"region", "endpoint", "path_style", "ca", "sse", "kms_key_id", "request_payer"}},
		{"batch", []string{"max_records", "max_bytes", "max_files", "min_records", "max_delay"}},
		{"on_error", []string{"policy", "max_bad_records"}},
		{"maintenance", []string{"compact", "checkpoint", "vacuum"}},
		{"maintenance.compact", []string{"min_files", "min_age"}},
		{"maintenance.vacuum", []string{"every"}},
	}
}

func keysOf(name string) []string {
	for _, s := range sections() {
		if s.name == name {
			return s.keys
		}
	}
	return nil
}

// unknownKeyFix says what to write instead of a key that a section does not have: its nearest key, or where the key
// would belong, or all that there is.
func unknownKeyFix(name, key string) string {
	known := keysOf(name)
	if name == "columns[]" && strings.ContainsAny(key, ">)") {
		return `write the type in quotes, since YAML ends it at the comma: type: "struct<a:int,b:string>"`
	}
	if near, ok := nearest(key, known); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	for _, s := range sections() {
		if slices.Contains(s.keys, key) {
			return fmt.Sprintf("%q belongs in %s", key, sectionTitle(s.name))
		}
	}
	return "known here: " + strings.Join(known, ", ")
}

func sectionTitle(name string) string {
	switch name {
	case "":
		return "the top level of the file"
	case "columns[]":
		return "a column"
	default:
		return name
	}
}

// nearest returns the candidate that takes the fewest edits to reach from word, if any is near enough to be meant.
func nearest(word string, candidates []string) (string, bool) {
	best, bestEdits := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if d := edits(strings.ToLower(word), strings.ToLower(c)); d < bestEdits && d < max(len(c), 2) {
			best, bestEdits = c, d
		}
	}
	return best, best != ""
}

// edits is the number of inserted, deleted, replaced and swapped bytes between two words (optimal string alignment).
func edits(a, b string) int {
	const longest = 64 // longer words are never meant, and the work is quadratic
	if len(a) > longest || len(b) > longest {
		return max(len(a), len(b))
	}
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
