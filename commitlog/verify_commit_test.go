package commitlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommitsThatDoNotFitTheTableAreFaults has others commit a version 2 behind adds of a and b, and of c with a deletion vector.
func TestCommitsThatDoNotFitTheTableAreFaults(t *testing.T) {
	withVector := func(line, offset string) string {
		return strings.TrimSuffix(line, "}}") + `,"deletionVector":{"storageType":"u","pathOrInlineDv":"vBn[lx{q8@P<9BNH/isA","offset":` + offset + `,"sizeInBytes":36,"cardinality":2}}}`
	}
	const optimize = `{"commitInfo":{"operation":"OPTIMIZE","clientVersion":"delta-rs.py-1.6.6"}}`
	quiet := func(line string) string { return strings.ReplaceAll(line, `"dataChange":true`, `"dataChange":false`) }
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"an append":                    {[]string{lineAdd("d")}, nil},
		"a compaction":                 {[]string{lineRemove("a"), lineRemove("b"), quiet(lineAdd("d"))}, nil},
		"rows deleted":                 {[]string{lineRemove("a"), withVector(lineAdd("a"), "1")}, nil},
		"more rows deleted":            {[]string{withVector(lineRemove("c"), "1"), withVector(lineAdd("c"), "9")}, nil},
		"statistics of a file":         {[]string{quiet(lineAdd("a"))}, nil},
		"a file added and removed":     {[]string{lineAdd("d"), lineRemove("d")}, nil},
		"a path with a scheme":         {[]string{lineAdd("file:///x/d"), lineRemove("/x/d")}, nil},
		"another spelling of the path": {[]string{optimize, lineRemove("%61"), quiet(lineAdd("d"))}, []string{"#02.json: version 2, by delta-rs.py-1.6.6 (OPTIMIZE), removes files that are not in the table: %61; rows that it was to replace may be there twice"}},
		"several of them": {
			[]string{`{"commitInfo":{"engineInfo":"E/1"}}`, lineRemove("x"), lineRemove("y"), lineRemove("z")},
			[]string{"#02.json: version 2, by E/1, removes files that are not in the table: x and 2 more; rows that it was to replace may be there twice"},
		},
		"without the deletion vector": {[]string{lineInfo("t"), lineRemove("c")}, []string{"#02.json: version 2, by an engine that does not say its name (WRITE), removes files that are not in the table: c; rows that it was to replace may be there twice"}},
		"added again":                 {[]string{lineAdd("a")}, []string{"#02.json: version 2, by a writer that does not say who it is, adds files as new that are in the table already: a"}},
		"added with another deletion vector": {
			[]string{withVector(lineAdd("c"), "9"), withVector(lineAdd("a"), "1")},
			[]string{"#02.json: at version 2 files are in the table more than once, with different deletion vectors: a and 1 more; their rows are there twice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newLogFolder(t)
			f.commit(0, lineProtocol, lineMetadata, lineAdd("a"))
			f.commit(1, lineAdd("b"), withVector(lineAdd("c"), "1"))
			f.commit(2, tt.lines...)
			var got []string
			if err := f.log().Verify(t.Context(), func(fault LogFault) { got = append(got, shortName(fault.Key)+": "+fault.Problem) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
