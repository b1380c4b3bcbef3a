package commitlog

import (
	"fmt"
	"testing"
)

func TestPathEncode(t *testing.T) {
	for path, want := range map[string]string{
		"part-1.parquet":      "part-1.parquet",
		"p=a%2Fb/x":           "p=a%252Fb/x",
		"p=a b/x":             "p=a%20b/x",
		"p=é/😀":               "p=%C3%A9/%F0%9F%98%80",
		"\"#<>?[\\]^`{|}\x7f": "%22%23%3C%3E%3F%5B%5C%5D%5E%60%7B%7C%7D%7F",
		"/=:+&,;@!$()*~'":     "/=:+&,;@!$()*~'",
	} {
		if got := PathEncode(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}

func TestPathDecodeIsTheInverse(t *testing.T) {
	for ch := range 256 {
		path := fmt.Sprintf("p=%c/%s", ch, string([]byte{byte(ch)}))
		got, err := PathDecode(PathEncode(path))
		if err != nil || got != path {
			t.Errorf("%q: got %q, %v", path, got, err)
		}
	}
}

func TestPathDecode(t *testing.T) {
	for path, want := range map[string]string{
		"a+b": "a+b", "a%20b": "a b", "a%2fb": "a/b", "p=a%252Fb": "p=a%2Fb", "raw é": "raw é",
	} {
		if got, err := PathDecode(path); err != nil || got != want {
			t.Errorf("%s: got %s, %v", path, got, err)
		}
	}
	for _, path := range []string{"%", "a%2", "50%/x", "%zz"} {
		if got, err := PathDecode(path); err == nil {
			t.Errorf("%s: got %s", path, got)
		}
	}
}

func TestCanonicalPath(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b%20c": "/a/b%20c", "file:/a/b%20c": "/a/b%20c", "file:///a/b": "/a/b", "file:/": "/", "file:///": "/",
		"file://host/a": "file://host/a", "file://": "file://", "file:a": "file:a", "file": "file", "": "", "s3://b/a": "s3://b/a",
		"p=1/file:/a": "p=1/file:/a",
	} {
		if got := CanonicalPath(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
		if got := localScheme([]byte(path)); path[got:] != want {
			t.Errorf("%s as bytes: got %s, want %s", path, path[got:], want)
		}
	}
}

func TestParseKey(t *testing.T) {
	tests := map[string]listed{
		"00000000000000000007.json":                                            {version: 7, commit: true},
		"00000000000000000007.checkpoint.parquet":                              {version: 7, part: 1, parts: 1},
		"00000000000000000007.checkpoint.0000000002.0000000003.parquet":        {version: 7, part: 2, parts: 3},
		"00000000000000000007.checkpoint.80a083e8-7026-4e79-81be-64bd.json":    {version: 7, part: 1, parts: 1},
		"00000000000000000007.checkpoint.80a083e8-7026-4e79-81be-64bd.parquet": {version: 7, part: 1, parts: 1},
	}
	for name, want := range tests {
		if got, ok := parseKey(logDir + name); !ok || got != want {
			t.Errorf("%s: got %+v, %v", name, got, ok)
		}
	}
	for _, name := range []string{
		"0000000000000000007.json", "000000000000000000007.json", "0000000000000000000x.json", "+0000000000000000007.json",
		"99999999999999999999.json", "00000000000000000007.json.tmp", ".00000000000000000007.json.crc", "00000000000000000007.crc",
		"00000000000000000007.00000000000000000009.compacted.json", "_last_checkpoint", "_sidecars/00000000000000000007.json",
		"_staged_commits/00000000000000000007.json", "00000000000000000007.checkpoint.json", "00000000000000000007",
		"00000000000000000007.checkpoint.0000000004.0000000003.parquet", "00000000000000000007.checkpoint.1.3.parquet",
	} {
		if got, ok := parseKey(logDir + name); ok {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := commitKey(7); got != "_delta_log/00000000000000000007.json" {
		t.Error(got)
	}
}
