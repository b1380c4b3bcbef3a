package json_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/source"
)

// infer returns the columns of the records as "name type", with "from path" where there is one, and the notices.
func infer(t testing.TB, b *source.Block) (columns, notices []string) {
	t.Helper()
	in := json.NewInferrer()
	if err := in.Infer(b); err != nil {
		t.Fatal(err)
	}
	cols, notices, err := in.Columns()
	if err != nil {
		return []string{"error: " + err.Error()}, notices
	}
	d, err := json.New(cols, json.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := decode(t, d, b)
	bad, records := in.Skipped()
	if int64(len(rows)) < records-bad-int64(strangers(notices)) {
		t.Errorf("%d of %d records decode with the columns inferred from them; %d were bad", len(rows), records, bad)
	}
	unknown := d.Unknown()
	delete(unknown, "``") // no path leads to a field with an empty name
	if len(unknown) != 0 {
		t.Errorf("inferred columns leave out %v", unknown)
	}
	for _, c := range cols {
		if !c.Nullable {
			t.Errorf("%s is not nullable", c.Name)
		}
		text := c.Name + " " + c.Type.DDL()
		if len(c.From) > 0 {
			text += " from " + c.From.String()
		}
		columns = append(columns, text)
	}
	return columns, notices
}

// strangers is the number of records of another kind that the notices speak of.
func strangers(notices []string) (n int) {
	for _, notice := range notices {
		if strings.Contains(notice, "another kind than the rest") {
			fmt.Sscanf(notice, "%d", &n)
		}
	}
	return n
}

func TestColumnsAreInferred(t *testing.T) {
	for name, c := range map[string]struct {
		records []string
		want    []string
	}{
		"kinds": {
			[]string{`{"b":true,"l":1,"d":1.5,"s":"x","ts":"2024-05-01T00:00:00Z","day":"2024-05-01","n":null,"o":{"y":1,"x":[1.5]},"a":[]}`},
			[]string{"b boolean", "l long", "d double", "s string", "ts timestamp", "day date", "n string", "o struct<y:long,x:array<double>>", "a array<string>"},
		},
		"longs and doubles":               {[]string{`{"a":1}`, `{"a":1.5}`, `{"a":9007199254740992}`}, []string{"a double"}},
		"a long that no double holds":     {[]string{`{"a":1.5}`, `{"a":9007199254740993}`}, []string{"a string"}},
		"beyond long":                     {[]string{`{"a":9223372036854775808,"b":-9223372036854775808}`}, []string{"a string", "b long"}},
		"beyond double":                   {[]string{`{"a":1e400}`}, []string{"a string"}},
		"conflicts":                       {[]string{`{"a":1,"b":{"x":1},"c":[1]}`, `{"a":"x","b":5,"c":["y"]}`}, []string{"a string", "b string", "c array<string>"}},
		"nulls take part in nothing":      {[]string{`{"a":null}`, `{"a":1}`, `{"a":null,"b":[null,2]}`}, []string{"a long", "b array<long>"}},
		"a timestamp too exact":           {[]string{`{"a":"2024-05-01T00:00:00.123456789Z"}`}, []string{"a string"}},
		"timestamps with and without":     {[]string{`{"a":"2024-05-01T00:00:00"}`, `{"a":"2024-05-01 00:00:00+02:00"}`}, []string{"a timestamp"}},
		"dates and timestamps":            {[]string{`{"a":"2024-05-01"}`, `{"a":"2024-05-01T00:00:00Z"}`}, []string{"a string"}},
		"order of first sight":            {[]string{`{"z":1}`, `{"a":1,"z":2}`}, []string{"z long", "a long"}},
		"objects in arrays are one shape": {[]string{`{"a":[{"x":1},{"y":"s"},{"x":null}]}`}, []string{"a array<struct<x:long,y:string>>"}},
		"empty objects":                   {[]string{`{"a":{},"b":[{}]}`}, []string{"a string", "b array<string>"}},
		"arrays as records":               {[]string{`["n",1,{"x":true}]`, `["m",2.5]`, `[]`}, []string{"c0 string from [0]", "c1 double from [1]", "c2 struct<x:boolean> from [2]"}},
		"illegal names": {
			[]string{`{"US Gross":1,"a.b":2,"us_gross":3,"ID":4,"id":5,"o":{"a b":1},"p":{"x":1,"X":2}}`},
			[]string{"US_Gross_2 long from US Gross", "a_b long from `a.b`", "us_gross long", "ID long", "id_2 long from id", "o string", "p string"},
		},
	} {
		got, _ := infer(t, block(c.records...))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestInferenceTellsWhatAUserShouldKnow(t *testing.T) {
	_, notices := infer(t, block(`{"US Gross":1,"o":{"a b":1},"A":1}`, `{"a":`, `[1]`, `{"a":2}`))
	want := []string{
		`1 of 4 sampled records are bad and were skipped, the first one f at 2: byte 5: expected a value, found the end of the record`,
		`field "US Gross" becomes column US_Gross: it holds one of the characters that Delta does not allow in names`,
		`field o is kept as text: the name "a b" inside it can't be a column's: it holds one of the characters that Delta does not allow in names`,
		`field "a" becomes column a_2: another column's name differs in case only`,
		`1 of 4 sampled records are of another kind than the rest, and would be bad records`,
	}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Error(diff)
	}
	for _, records := range [][]string{nil, {`x`}, {`{}`}, {`[]`}, {`5`, `"x"`}} {
		got, _ := infer(t, block(records...))
		if len(got) != 1 || !strings.HasPrefix(got[0], "error: infer columns from") {
			t.Errorf("%q: %q", records, got)
		}
	}
}

func TestInferenceSkipsLoneSurrogates(t *testing.T) {
	got, notices := infer(t, block(`{"a":"\ud800"}`, `{"\udc00":1}`, `{"a":1}`))
	if diff := cmp.Diff([]string{"a long"}, got); diff != "" || len(notices) != 1 {
		t.Error(diff, notices)
	}
}

func TestColumnsOfSharedFilesAreInferred(t *testing.T) {
	for name, want := range map[string][]string{
		"data/web_requests-100.ndjson": {
			"meta struct<producer:struct<timestamp:timestamp>>", "method string", "session_id string", "status long", "url string", "uuid string",
		},
		"data/events-1000.ndjson": {
			"id string", "user_id long", "event_type string", "ts timestamp", "url string", "amount double",
			"device struct<os:string,version:string,screen_w:long>", "tags array<string>", "referrer string", "seq long", "mobile boolean",
		},
		"data/amazon_cellphones.ndjson": {
			"c0 string from [0]", "c1 string from [1]", "c2 string from [2]", "c3 string from [3]", "c4 string from [4]", "c5 string from [5]",
			"c6 string from [6]", "c7 string from [7]", "c8 string from [8]",
		},
	} {
		got, _ := infer(t, frameBlock(t, shared(t, name)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	got, notices := infer(t, frameBlock(t, shared(t, "data/github_events.json")))
	t.Log(got, notices)
}

func ExampleInferrer() {
	in := json.NewInferrer()
	b := block(`{"id":1,"US Gross":146083}`, `{"id":2,"US Gross":null,"day":"2024-05-01"}`)
	if err := in.Infer(b); err != nil {
		panic(err)
	}
	columns, notices, err := in.Columns()
	for _, c := range columns {
		fmt.Printf("%s %s %q\n", c.Name, c.Type, c.From)
	}
	fmt.Println(notices, err)
	// Output:
	// id long ""
	// US_Gross long "US Gross"
	// day date ""
	// [field "US Gross" becomes column US_Gross: it holds one of the characters that Delta does not allow in names] <nil>
}

// FuzzInfer holds what inference promises against any records: it is a function of them, and they decode with its columns.
func FuzzInfer(f *testing.F) {
	for _, seed := range []string{
		"{\"a\":1}\n{\"a\":1.5,\"b c\":[{}]}", "[1,\"x\"]\n[null]", "{\"\":1,\"o\":{\"\":2},\"A\":1,\"a\":\"2024-05-01\"}",
		"{\"a\":-0,\"b\":9007199254740993}\n{\"b\":1e5}", "{\"a\":{\"b\":{}}}\n{\"a\":{\"b\":null,\"B\":1}}\n5\n{", "{\"t\":\"2024-05-01 00:00:00Z\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, records string) {
		b := block(strings.Split(records, "\n")...)
		columns, notices := infer(t, b)
		again, same := infer(t, b)
		if diff := cmp.Diff(columns, again) + cmp.Diff(notices, same); diff != "" {
			t.Error(diff)
		}
	})
}
