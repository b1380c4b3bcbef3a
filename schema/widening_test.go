package schema

import (
	"strings"
	"testing"
)

// TestWideningsAreThoseOfTheProtocol goes through PROTOCOL.md's "Supported Type Changes".
func TestWideningsAreThoseOfTheProtocol(t *testing.T) {
	for _, tc := range []struct {
		from string
		to   []string
		not  []string
	}{
		{"byte", []string{"short", "int", "long", "double", "decimal(10,0)", "decimal(12,2)", "decimal(4,1)"}, []string{"float", "decimal(3,1)", "boolean", "date", "string"}},
		{"short", []string{"int", "long", "double", "decimal(6,1)"}, []string{"byte", "float", "decimal(4,0)"}},
		{"int", []string{"long", "double", "decimal(38,28)"}, []string{"short", "decimal(9,0)", "timestamp"}},
		{"long", []string{"decimal(20,0)", "decimal(22,2)"}, []string{"double", "int", "decimal(19,0)", "decimal(21,2)"}},
		{"float", []string{"double"}, []string{"decimal(38,0)"}},
		{"double", nil, []string{"float", "string"}},
		{"date", []string{"timestamp_ntz"}, []string{"timestamp", "string"}},
		{"decimal(10,2)", []string{"decimal(10,2)", "decimal(11,2)", "decimal(11,3)"}, []string{"decimal(10,3)", "decimal(11,4)", "decimal(9,1)", "double"}},
		{"string", nil, []string{"binary", "long"}},
		{"timestamp", nil, []string{"timestamp_ntz", "date"}},
		{"array<int>", nil, []string{"array<int>", "array<long>"}},
	} {
		from := mustDDL(t, tc.from)
		if !from.Nested() && !from.Widens(from) {
			t.Errorf("%s is not itself", tc.from)
		}
		for _, to := range tc.to {
			if !from.Widens(mustDDL(t, to)) {
				t.Errorf("%s does not widen to %s", tc.from, to)
			}
		}
		for _, to := range tc.not {
			if from.Widens(mustDDL(t, to)) {
				t.Errorf("%s widens to %s", tc.from, to)
			}
		}
	}
}

func mustDDL(t *testing.T, ddl string) *Type {
	t.Helper()
	parsed, err := ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestTypeChangesThatNobodyCanFollowAreFound(t *testing.T) {
	for changes, want := range map[string]string{
		`[]`: "",
		`[{"fromType":"integer","toType":"long"},{"fromType":"long","toType":"decimal(20,0)","fieldPath":"element"}]`: "",
		`[{"toType":"long","fromType":"integer","tableVersion":1}]`:                                                   "",
		`[{"fromType":"long","toType":"integer"}]`:                                                                    "column s.x: its type has been changed from long to integer",
		`[{"fromType":"integer","toType":"int128"}]`:                                                                  `unknown type "int128"`,
		`{}`: "cannot be read",
	} {
		parsed, err := ParseJSON(mappedJSON("", `"delta.typeChanges":`+changes))
		if err != nil {
			t.Fatal(err)
		}
		if err := parsed.CheckTypeChanges(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", changes, err, want)
		}
	}
}
