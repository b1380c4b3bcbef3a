package pipeline

import (
	"strings"
	"testing"
)

const fingerprinted = `
name: x
source:
  files: {path: landing}
  format: {json: {layout: lines, max_record_bytes: 1MB}}
columns:
  - {name: id, type: bigint}
  - {name: ts, type: timestamp, from: a.b}
  - {name: line, type: long, meta: file.line}
table: {path: lake/t, partition_by: [ts]}
on_error: {policy: skip, max_bad_records: 5}
`

func TestFingerprintIsStable(t *testing.T) {
	if got, want := mustParse(t, fingerprinted).Fingerprint(), "06cb1dec9a471c0ed13969fe11da5bd0"; got != want {
		t.Errorf("fingerprint = %s, want %s: a batch that was planned by an earlier version would be called one of other logic", got, want)
	}
}

func TestFingerprintFollowsTheLogicOnly(t *testing.T) {
	before := mustParse(t, fingerprinted).Fingerprint()
	for _, c := range []struct {
		old, new string
		changes  bool
	}{
		{"name: x", "name: y", false},
		{"path: landing", "path: landing/*.gz, settle: 9s, overwritten: ignore", false},
		{"lake/t", "lake/u, properties: {a: b}", false},
		{"max_bad_records: 5", "max_bad_records: 6", false},
		{"name: x", "name: x\nbatch: {max_records: 1}\ntrigger: continuous\ncheckpoint: c", false},
		{"bigint", "LONG", false},
		{"from: a.b", "from: a.`b`", false},
		{"bigint", "int", true},
		{"bigint", "bigint, nullable: false", true},
		{"from: a.b", "from: a", true},
		{"name: id", "name: id2", true},
		{"layout: lines", "layout: array", true},
		{"max_record_bytes: 1MB", "max_record_bytes: 2MB", true},
		{"policy: skip", "policy: quarantine", true},
		{", partition_by: [ts]", "", true},
		{"  - {name: line, type: long, meta: file.line}\n", "", true},
	} {
		after := mustParse(t, strings.Replace(fingerprinted, c.old, c.new, 1)).Fingerprint()
		if (after != before) != c.changes {
			t.Errorf("%q for %q: fingerprint changes = %v, want %v", c.new, c.old, after != before, c.changes)
		}
	}
}

func TestFingerprintKnowsTheSource(t *testing.T) {
	kafka := "name: x\nsource: {kafka: {brokers: ['a:1'], topics: [t]}}\ntable: {path: lake/t}\n"
	seen := map[string]string{}
	for _, text := range []string{base, kafka, strings.Replace(kafka, "[t]", "[t], isolation: read_uncommitted", 1)} {
		print := mustParse(t, text).Fingerprint()
		if other, ok := seen[print]; ok {
			t.Errorf("equal fingerprints of\n%s\n%s", other, text)
		}
		seen[print] = text
	}
}
