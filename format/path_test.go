package format_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format"
)

func ExampleParsePath() {
	path, err := format.ParsePath("items[0].US Gross.`a.b`")
	fmt.Println(path, len(path), err)
	// Output: items[0].US Gross.`a.b` 4 <nil>
}

func TestPathsHaveTheStepsThatTheirTextSays(t *testing.T) {
	for text, want := range map[string]format.Path{
		"us":                      {{Field: "us"}},
		"US Gross":                {{Field: "US Gross"}},
		"meta.producer.timestamp": {{Field: "meta"}, {Field: "producer"}, {Field: "timestamp"}},
		"tags[0]":                 {{Field: "tags"}, {Index: 0}},
		"[3]":                     {{Index: 3}},
		"[3][1].a":                {{Index: 3}, {Index: 1}, {Field: "a"}},
		"`a.b`[2]":                {{Field: "a.b"}, {Index: 2}},
		`"a""b".c`:                {{Field: `a"b`}, {Field: "c"}},
		"a-b/c:d,é😀":              {{Field: "a-b/c:d,é😀"}},
		"`$`":                     {{Field: "$"}},
		"a.$":                     {{Field: "a"}, {Field: "$"}},
		"$ref":                    {{Field: "$ref"}},
		"$":                       format.Whole(),
	} {
		got, err := format.ParsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestPathErrorsHaveAPosition(t *testing.T) {
	for text, offset := range map[string]int{
		"":              0,
		".a":            0,
		"a.":            2,
		"a..b":          2,
		"a[":            2,
		"a[x]":          2,
		"a[-1]":         2,
		"a[01]":         2,
		"a[1":           3,
		"a[1]b":         4,
		"a]":            1,
		"a`b":           1,
		"``":            0,
		"`a":            0,
		"`a`b":          3,
		"a. b":          2,
		"a .b":          0,
		"$.a":           0,
		"$[0]":          0,
		"a\nb":          1,
		"a[1234567890]": 2,
		"a\xff":         0,
	} {
		_, err := format.ParsePath(text)
		var at *format.PathError
		if !errors.As(err, &at) {
			t.Errorf("%q: got %v, want an error with a position", text, err)
			continue
		}
		if at.Offset != offset {
			t.Errorf("%q: error at byte %d, want %d: %v", text, at.Offset, offset, err)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"us", "US Gross", "a.b[0]", "[3]", "`a``b`", `"x""y"`, "$", "a.`$`", "é.😀[12]", "a..b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := format.ParsePath(text)
		if err != nil {
			return
		}
		again, err := format.ParsePath(path.String())
		if err != nil {
			t.Fatalf("%q parses, its own text %q does not: %v", text, path, err)
		}
		if diff := cmp.Diff(path, again); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}
