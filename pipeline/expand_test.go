package pipeline

import (
	"errors"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "one", "B_2": "two", "EMPTY": "", "ODD": "${A} $$ {x: [y]}"}[name]
		return v, ok
	}
	for _, c := range []struct {
		in, want string
		expanded bool
		faults   string
	}{
		{"plain", "plain", false, ""},
		{"", "", false, ""},
		{"${A}", "one", true, ""},
		{"x${A}y${B_2}z", "xoneytwoz", true, ""},
		{"$$", "$", false, ""},
		{"$${A}", "${A}", false, ""},
		{"$$$$A", "$$A", false, ""},
		{"a$", "a$", false, ""},
		{"$.x", "$.x", false, ""},
		{"5$ 7", "5$ 7", false, ""},
		{"${NONE:-d}", "d", true, ""},
		{"${EMPTY:-d}", "d", true, ""},
		{"${A:-d}", "one", true, ""},
		{"${NONE:-}", "", true, ""},
		{"${NONE:-a:-b c}", "a:-b c", true, ""},
		{"${EMPTY}", "", true, ""},
		{"${ODD}", "${A} $$ {x: [y]}", true, ""},
		{"${NONE}", "", true, "environment variable NONE is not set"},
		{"${A", "", false, "${A has no closing brace"},
		{"${}", "", true, "${} does not name an environment variable"},
		{"${A-B}", "", true, "${A-B} does not name an environment variable"},
		{"${9}", "", true, "${9} does not name an environment variable"},
		{"$A", "$A", false, "$A is not replaced"},
		{"$_x9.", "$_x9.", false, "$_x9 is not replaced"},
	} {
		got, expanded, faults := expand(c.in, env)
		var problems []string
		for _, f := range faults {
			problems = append(problems, f.Problem)
			if f.Fix == "" {
				t.Errorf("expand(%q): no fix for %q", c.in, f.Problem)
			}
		}
		if got != c.want || expanded != c.expanded || strings.Join(problems, "|") != c.faults {
			t.Errorf("expand(%q) = %q, %v, %q; want %q, %v, %q", c.in, got, expanded, problems, c.want, c.expanded, c.faults)
		}
	}
}

func TestEnvironmentNeverBecomesStructure(t *testing.T) {
	env := func(string) (string, bool) { return "a\nbatch: {max_records: 1} # {x: y}", true }
	f, err := Parse("p.yaml", []byte("name: x\nsource: {files: {path: landing}}\ntable: {path: \"${T}\"}\n"), env)
	if err != nil {
		t.Fatal(err)
	}
	if f.Table.Path != "a\nbatch: {max_records: 1} # {x: y}" || f.Batch != defaultBatch() {
		t.Errorf("table %q, batch %+v", f.Table.Path, f.Batch)
	}
}

func TestEnvironmentGivesNumbersAndBooleans(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"N": "7", "SIZE": "1kB", "WAIT": "3s", "NULLABLE": "false", "BARE": "12"}[name]
		return v, ok
	}
	text := `
name: ${BARE}
source: {files: {path: landing, settle: "${WAIT}"}}
columns: [{name: a, type: long, nullable: "${NULLABLE}"}]
table: {path: lake/t}
batch: {max_records: "${N}", max_bytes: "${SIZE}"}
`
	f, err := Parse("p.yaml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "12" || f.Source.Files.Settle.Seconds() != 3 || f.Columns[0].Nullable || f.Batch.MaxRecords != 7 || f.Batch.MaxBytes != 1000 {
		t.Errorf("file = %+v", f)
	}
}

func TestWithoutAnEnvironmentEveryVariableIsUnset(t *testing.T) {
	_, err := Parse("p.yaml", []byte("name: ${HOME}\nsource: {files: {path: landing}}\ntable: {path: lake/t}\n"), nil)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Problem != "environment variable HOME is not set" {
		t.Errorf("Parse = %v", err)
	}
}
