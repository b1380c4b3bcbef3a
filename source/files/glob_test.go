package files

import (
	"testing"
)

func TestGlobMatches(t *testing.T) {
	tests := []struct {
		pattern  string
		yes, not []string
	}{
		{"", []string{"a", "a/b", "a/b/c.json"}, nil},
		{"*.ndjson", []string{"a.ndjson", "é 😀.ndjson"}, []string{"a.json", "x/a.ndjson", "a.ndjson.gz"}},
		{"**/*.json", []string{"a.json", "x/a.json", "x/y/z/a.json"}, []string{"a.jsonl", "x/a"}},
		{"x/**", []string{"x/a", "x/y/a"}, []string{"x", "y/a", "xx/a"}},
		{"x/**/y/*.j", []string{"x/y/a.j", "x/1/y/a.j", "x/1/2/y/a.j"}, []string{"x/a.j", "y/a.j", "x/y/z/a.j"}},
		{"**/a/**/b", []string{"a/b", "1/a/2/b", "a/a/b"}, []string{"b", "a/c"}},
		{"2026-0[1-3]/part-?.json", []string{"2026-01/part-7.json"}, []string{"2026-04/part-7.json", "2026-01/part-77.json"}},
		{"[^_]*", []string{"a"}, []string{"_a"}},
		{"*.{json,ndjson}{,.gz}", []string{"a.json", "a.ndjson", "a.json.gz", "a.ndjson.gz"}, []string{"a.{json", "a.csv", "a.gz"}},
		{"{a,b/{c,d}}/x", []string{"a/x", "b/c/x", "b/d/x"}, []string{"b/x"}},
		{`a\*b\{1\}`, []string{"a*b{1}"}, []string{"aab{1}"}},
		{"with space/*", []string{"with space/ü"}, []string{"withspace/ü"}},
	}
	for _, test := range tests {
		g, err := ParseGlob(test.pattern)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		for _, name := range test.yes {
			if !g.Match(name) {
				t.Errorf("%q does not match %q", test.pattern, name)
			}
			if len(name) < len(g.prefix) || name[:len(g.prefix)] != g.prefix {
				t.Errorf("%q has the prefix %q, which %q has not", test.pattern, g.prefix, name)
			}
		}
		for _, name := range test.not {
			if g.Match(name) {
				t.Errorf("%q matches %q", test.pattern, name)
			}
		}
	}
}

func TestMalformedGlobIsRefused(t *testing.T) {
	for pattern, says := range map[string]string{
		"[a-":       "bracket",
		"/abs/*":    "begins with a slash",
		"a//b":      "no path has",
		"../a":      "no path has",
		"a**b":      "stand alone",
		"{a,b":      "without a }",
		"a}":        "without a {",
		"{a,b}{c":   "without a }",
		`trailing\`: "bracket",
		"{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1}": "more than 1000",
	} {
		_, err := ParseGlob(pattern)
		if err == nil {
			t.Errorf("%q is accepted", pattern)
			continue
		}
		mustContain(t, err, says)
	}
}

func TestSplitGlob(t *testing.T) {
	for path, want := range map[string][2]string{
		"landing":                 {"landing", "**"},
		"landing/":                {"landing", "**"},
		"landing/*.ndjson":        {"landing", "*.ndjson"},
		"/data/in/**/*.json":      {"/data/in", "**/*.json"},
		"/data/2026-*/x/*.json":   {"/data", "2026-*/x/*.json"},
		"*.json":                  {".", "*.json"},
		"/*.json":                 {"/", "*.json"},
		"/":                       {"/", "**"},
		".":                       {".", "**"},
		"":                        {".", "**"},
		"a/{b,c}/d":               {"a", "{b,c}/d"},
		`odd\[1\]/*.json`:         {"odd[1]", "*.json"},
		`odd\[1\]`:                {"odd[1]", "**"},
		"../with space/é/a?.gz":   {"../with space/é", "a?.gz"},
		"s/" + QuoteGlob("a[1]*"): {"s/a[1]*", "**"},
	} {
		root, pattern := SplitGlob(path)
		if got := [2]string{root, pattern}; got != want {
			t.Errorf("SplitGlob(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestQuotedNameMatchesOnlyItself(t *testing.T) {
	for _, name := range []string{"a.json", "a*b", "[1]", `back\slash`, "{a,b}", "é?.json"} {
		g, err := ParseGlob(QuoteGlob(name))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if !g.Match(name) || g.Match("b") || g.Match("ab") {
			t.Errorf("the quoted %q matches wrongly", name)
		}
	}
}

func TestTemporaryNames(t *testing.T) {
	for _, name := range []string{
		"_a", ".a", "x/_y/a", "x/.y/a", "a.tmp", "a.TMP", "a.json.tmp.gz", "a.part", "a.part.zst", "a.partial", "a~", "a.json~",
		"a.crdownload", "a.filepart", "a.inprogress", "a._COPYING_", "dir.tmp/a.json", "a.tmp.GZ",
	} {
		if !temporary(name) {
			t.Errorf("%q is not taken for temporary", name)
		}
	}
	for _, name := range []string{"a", "part-0000.json", "a_b", "a.b/c_.d", "tmp", "tmp/a", "a.partx", "a.tmp.json", "~a", "é.gz"} {
		if temporary(name) {
			t.Errorf("%q is taken for temporary", name)
		}
	}
}
