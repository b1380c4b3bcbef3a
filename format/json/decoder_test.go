package json_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

func ExampleNew() {
	device, err := schema.ParseDDL("struct<os:string,screen_w:int>")
	if err != nil {
		panic(err)
	}
	d, err := json.New([]format.Column{
		{Name: "id", Type: schema.Of(schema.Long)},
		{Name: "device", Type: device, Nullable: true},
	}, json.Options{})
	if err != nil {
		panic(err)
	}
	b := &source.Block{
		Partition: "a.ndjson",
		File:      &source.File{Path: "a.ndjson"},
		Values:    [][]byte{[]byte(`{"id":1,"device":{"os":"ios","screen_w":390}}`), []byte(`{"id":2,"device":{"screen_w":3000000000}}`)},
		Positions: []int64{1, 2},
	}
	err = d.Decode(b, func(bad format.Bad) error {
		fmt.Printf("%s, line %d, column %s: %s\n", bad.Partition, bad.Position, bad.Column, bad.Reason)
		return nil
	})
	if err != nil {
		panic(err)
	}
	record := d.Flush()
	defer record.Release()
	fmt.Println(record.NumRows(), string(json.AppendRow(nil, record, 0)))
	// Output:
	// a.ndjson, line 2, column device: field device.screen_w: 3000000000 does not fit int
	// 1 {"id":1,"device":{"os":"ios","screen_w":390}}
}

func kafkaBlock(values ...[]byte) *source.Block {
	b := &source.Block{Partition: "t/3", Values: values, Kafka: &source.Kafka{Topic: "t", Partition: 3}}
	for i := range values {
		b.Positions = append(b.Positions, int64(100+i))
		b.Kafka.Timestamps = append(b.Kafka.Timestamps, int64(1_714_560_000_123+i))
		b.Kafka.Keys = append(b.Kafka.Keys, []byte(fmt.Sprintf("k%d", i)))
	}
	return b
}

func TestPathsLeadToValuesInTheRecord(t *testing.T) {
	for _, c := range []struct {
		specs   []string
		records []string
		want    []string
	}{
		{
			[]string{"gross long from US Gross", "ts timestamp from meta.producer.timestamp", "day date from meta.producer.timestamp", "first string from tags[0]"},
			[]string{`{"US Gross":5,"meta":{"x":1,"producer":{"timestamp":"2024-05-01T23:00:00-02:00"}},"tags":["a","b"]}`, `{"meta":null,"tags":[]}`, `{"meta":{"producer":{}},"tags":[null]}`},
			[]string{"5|2024-05-02 01:00:00Z|2024-05-02|a", "(null)|(null)|(null)|(null)", "(null)|(null)|(null)|(null)"},
		},
		{
			[]string{"d long from [3]", "a string from [0]", "n long from [1][0].x"},
			[]string{`["p",[{"x":4}],true,7,8]`, `[]`, `["q"]`},
			[]string{"7|p|4", "(null)|(null)|(null)", "(null)|q|(null)"},
		},
		{
			[]string{"raw string from $", "a long"},
			[]string{` {"a" : 1, "b":"\ud800"} `},
			[]string{`{"a" : 1, "b":"\ud800"}|1`},
		},
		{
			[]string{"raw string from $"},
			[]string{`null`, `"x"`, `1.50`, `[1, 2]`},
			[]string{`null`, `"x"`, `1.50`, `[1, 2]`},
		},
		{
			[]string{"o struct<a:long,t:array<string>>", "a long from o.a", "text string from o", "last string from o.t[1]"},
			[]string{`{"o":{"a":1,"t":["x","y"]}}`, `{"o":{"a":1},"o":{"a":2, "t":[]}}`},
			[]string{`{"a":1,"t":["x","y"]}|1|{"a":1,"t":["x","y"]}|y`, `{"a":2,"t":[]}|2|{"a":2, "t":[]}|(null)`},
		},
	} {
		rows, bad := decode(t, newDecoder(t, c.specs...), block(c.records...))
		if len(bad) > 0 {
			t.Errorf("%v: bad: %v", c.specs, bad)
		}
		if diff := cmp.Diff(c.want, rows); diff != "" {
			t.Errorf("%v: %s", c.specs, diff)
		}
	}
}

func TestPathsThroughOtherKindsAreBad(t *testing.T) {
	for _, c := range []struct{ spec, record, column, reason string }{
		{"v long from a.b", `{"a":5}`, "v", "field a: a number where an object is expected"},
		{"v long from a.b", `{"a":[]}`, "v", "field a: an array where an object is expected"},
		{"v long from a[0]", `{"a":{}}`, "v", "field a: an object where an array is expected"},
		{"v long from a[1].b", `{"a":[0,{"b":"x"}]}`, "v", "field a[1].b: a string where long is expected"},
		{"v long from a[1].b not null", `{"a":[0]}`, "v", "field a[1].b: missing, and not nullable"},
		{"v long from a.b.c not null", `{"a":{"b":null}}`, "v", "field a.b.c: null, and not nullable"},
		{"v long not null", `{}`, "v", "field v: missing, and not nullable"},
		{"v long from [0]", `{}`, "", "record: an object where an array is expected"},
		{"v long from [0]", `null`, "", "record: null where an array is expected"},
		{"v long from $", `"x"`, "v", "a string where long is expected"},
		{"v array<struct<a:map<string,int>>>", `{"v":[{},{"a":{"k.1":true}}]}`, "v", "field v[1].a.`k.1`: a boolean where int is expected"},
	} {
		rows, bad := decode(t, newDecoder(t, c.spec), block(c.record))
		if len(rows) != 0 || len(bad) != 1 || bad[0].Column != c.column || bad[0].Reason != c.reason {
			t.Errorf("%s of %s: rows %q, bad %+v, want %q of %q", c.spec, c.record, rows, bad, c.reason, c.column)
		}
	}
}

func TestUnknownFieldsAreCountedByPath(t *testing.T) {
	d := newDecoder(t, "a long", "o struct<x:long>", "y long from o.y", "l array<struct<p:long>>", "m map<string,struct<q:long>>", "text string")
	rows, bad := decode(t, d, block(
		`{"a":1,"b":{"deep":1},"o":{"x":1,"y":2,"z":3},"l":[{"p":1,"r":2},{"r":3}],"m":{"k":{"q":1,"s":2}},"text":{"free":1}}`,
		`{"b":2,"a.b":3,"":4}`,
	))
	if len(rows) != 2 || len(bad) != 0 {
		t.Fatal(rows, bad)
	}
	want := map[string]int64{"b": 2, "o.z": 1, "l[].r": 2, "m{}.s": 1, "`a.b`": 1, "``": 1}
	if diff := cmp.Diff(want, d.Unknown()); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownFieldsAreCountedWithinBounds(t *testing.T) {
	d := newDecoder(t, "a long")
	for i := range format.MaxUnknown + 50 {
		decode(t, d, block(fmt.Sprintf(`{"u%d":1,"a":1}`, i)))
	}
	decode(t, d, block(`{"`+strings.Repeat("long", 1000)+`":1}`))
	counts := d.Unknown()
	if len(counts) != format.MaxUnknown+1 || counts[format.UnknownRest] != 51 {
		t.Errorf("%d paths, %d under the rest", len(counts), counts[format.UnknownRest])
	}
}

func TestMetaColumnsComeWithTheRecord(t *testing.T) {
	d := newDecoder(t, "topic string meta kafka.topic", "part int meta kafka.partition", "off long meta kafka.offset", "ts timestamp meta kafka.timestamp",
		"key string meta kafka.key", "bin binary meta kafka.key", "headers array<struct<key:string,value:binary>> meta kafka.headers")
	b := kafkaBlock([]byte(`{}`), []byte(`1`), []byte(`[]`))
	b.Kafka.Keys[1], b.Kafka.Keys[2] = nil, []byte{0xff}
	b.Kafka.Timestamps[1] = -1
	b.Kafka.Headers = [][]source.Header{{{Key: "a", Value: []byte("x")}, {Key: "a", Value: nil}}, nil, nil}
	rows, bad := decode(t, d, b)
	want := []string{
		`t|3|100|2024-05-01 10:40:00.123Z|k0|azA=|[{"key":"a","value":"eA=="},{"key":"a","value":null}]`,
		`t|3|101|(null)|(null)|(null)|[]`,
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if len(bad) != 1 || bad[0].Column != "key" || bad[0].Reason != "kafka.key: it is not UTF-8; declare the column binary" {
		t.Errorf("%+v", bad)
	}

	d = newDecoder(t, "p string meta file.path", "l long meta file.line", "m timestamp meta file.modified", "a long")
	b = block(`{"a":1}`)
	b.File.Modified = time.Date(2024, 5, 1, 1, 2, 3, 123456789, time.UTC)
	rows, _ = decode(t, d, b)
	if diff := cmp.Diff([]string{"f|1|2024-05-01 01:02:03.123456Z|1"}, rows); diff != "" {
		t.Error(diff)
	}
	if err := d.Decode(kafkaBlock([]byte(`{}`)), refuse(t)); err == nil {
		t.Error("a file's metadata is taken from Kafka")
	}
}

func TestMetadataThatIsMissingOrDoesNotFitIsBad(t *testing.T) {
	for spec, c := range map[string]struct {
		change func(b *source.Block)
		reason string
	}{
		"v string meta kafka.key not null":          {func(b *source.Block) { b.Kafka.Keys = nil }, "kafka.key: missing, and not nullable"},
		"v timestamp meta kafka.timestamp":          {func(b *source.Block) { b.Kafka.Timestamps[0] = 1 << 60 }, "kafka.timestamp: 1152921504606846976 ms is outside of the years 0001 to 9999"},
		"v timestamp meta kafka.timestamp not null": {func(b *source.Block) { b.Kafka.Timestamps[0] = -1 }, "kafka.timestamp: missing, and not nullable"},
		"v array<struct<key:string,value:binary>> meta kafka.headers": {
			func(b *source.Block) {
				b.Kafka.Headers = [][]source.Header{{{Key: "a", Value: []byte("x")}, {Key: "\xff"}}}
			}, "kafka.headers: the name of a header is not UTF-8",
		},
		"v array<struct<key:string,value:binary not null>> meta kafka.headers": {
			func(b *source.Block) { b.Kafka.Headers = [][]source.Header{{{Key: "a"}}} }, `kafka.headers: header "a" has no value, and the field value is not nullable`,
		},
		"v string meta file.path":        {func(b *source.Block) { b.File.Path = "\xff" }, "file.path: it is not UTF-8"},
		"v timestamp meta file.modified": {func(b *source.Block) { b.File.Modified = time.Date(12024, 1, 1, 0, 0, 0, 0, time.UTC) }, "file.modified: it is outside of the years 0001 to 9999"},
	} {
		b := kafkaBlock([]byte(`{}`))
		b.File = &source.File{}
		c.change(b)
		rows, bad := decode(t, newDecoder(t, spec), b)
		if len(rows) != 0 || len(bad) != 1 || bad[0].Reason != c.reason || bad[0].Column != "v" {
			t.Errorf("%s: rows %q, bad %+v, want %s", spec, rows, bad, c.reason)
		}
	}
}

func TestNewTellsAllFaultyColumns(t *testing.T) {
	cols := columns(t, "a long from x.y", "b long from x[0]", "c int meta kafka.offset", "d string meta kafka.color", "e map<array<int>,int>")
	cols = append(cols, format.Column{Name: "f"})
	_, err := json.New(cols, json.Options{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		"column b: another column's path wants x to be an object", "column c: kafka.offset does not go into int; declare the column long",
		`column d: there is no metadata "kafka.color"`, "column e: a map's key can't be array<int>", "column f: it has no type",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\n\tlacks %q", err, part)
		}
	}
}

func TestFaultsOfTheSourceAreBadRecordsInOrder(t *testing.T) {
	b := block(`{"a":1}`, `{"a":2}`, `x`, `{"a":4}`)
	b.Faults = []source.Fault{{Index: 1, Reason: "too long"}}
	rows, bad := decode(t, newDecoder(t, "a long"), b)
	if diff := cmp.Diff([]string{"1", "4"}, rows); diff != "" {
		t.Error(diff)
	}
	if len(bad) != 2 || bad[0].Position != 2 || bad[0].Reason != "too long" || string(bad[0].Value) != `{"a":2}` || bad[1].Position != 3 {
		t.Errorf("%+v", bad)
	}
}

func TestErrorOfBadEndsDecode(t *testing.T) {
	stop := errors.New("stop")
	d := newDecoder(t, "a long")
	if err := d.Decode(block(`{"a":1}`, `x`, `{"a":2}`), func(format.Bad) error { return stop }); err != stop {
		t.Error(err)
	}
	if d.Rows() != 1 {
		t.Errorf("%d rows", d.Rows())
	}
}

func TestNestingIsBounded(t *testing.T) {
	d := newDecoder(t, "v string from $")
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	rows, bad := decode(t, d, block(nest(json.MaxDepth), nest(json.MaxDepth+1), strings.Repeat(`{"a":`, 100_000), nest(json.MaxDepth)))
	if len(rows) != 2 || len(bad) != 2 || bad[0].Reason != "byte 512: nested more than 512 deep" {
		t.Errorf("%d rows, %+v", len(rows), bad)
	}
}

func TestManyKeysOfAMapKeepTheLastOfEach(t *testing.T) {
	var record strings.Builder
	record.WriteString(`{"v":{`)
	for i := range 1000 {
		fmt.Fprintf(&record, `"k%d":%d,`, i%300, i)
	}
	record.WriteString(`"k0":-1}}`)
	rows, bad := decode(t, newDecoder(t, "v map<string,long>"), block(record.String()))
	if len(bad) != 0 || len(rows) != 1 || strings.Count(rows[0], "key") != 300 {
		t.Fatal(rows, bad)
	}
	for _, want := range []string{`{"key":"k100","value":700}`, `{"key":"k99","value":999}`, `{"key":"k0","value":-1}`, `{"key":"k150","value":750}`} {
		if !strings.Contains(rows[0], want) {
			t.Errorf("lacks %s", want)
		}
	}
}

func TestRecordsOfAFlushStayWhenTheDecoderGoesOn(t *testing.T) {
	d := newDecoder(t, "s string", "l array<long>", "o struct<a:boolean>")
	fill := func(n int) {
		if err := d.Decode(block(fmt.Sprintf(`{"s":"v%d","l":[%d],"o":{"a":true}}`, n, n), `{}`), refuse(t)); err != nil {
			t.Fatal(err)
		}
	}
	fill(1)
	first := d.Flush()
	fill(2)
	second := d.Flush()
	want := rowTexts(t, first)
	second.Release()
	fill(3)
	third := d.Flush()
	if diff := cmp.Diff([]string{"v1|[1]|{\"a\":true}", "(null)|(null)|(null)"}, want); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, rowTexts(t, first)); diff != "" {
		t.Error("an old record changed", diff)
	}
	if got := rowTexts(t, third)[0]; got != "v3|[3]|{\"a\":true}" {
		t.Error(got)
	}
	first.Release()
	third.Release()
}

func TestDecodingAllocatesNothingPerRecord(t *testing.T) {
	record := `{"s":"a\u00e9b","n":1.25,"d":"12.50","at":"2024-05-01T00:00:00Z","x":{"y":[1]},"m":{"k":1},"l":[{"a":1},{"a":2}]}`
	d := newDecoder(t, "s string", "n double", "d decimal(9,2)", "at timestamp", "m map<string,int>", "l array<struct<a:int>>")
	records := make([]string, 1000)
	for i := range records {
		records[i] = record
	}
	b := block(records...)
	run := func() {
		if err := d.Decode(b, refuse(t)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	d.Flush().Release()
	run()
	d.Flush().Release()
	per := testing.AllocsPerRun(10, func() {
		run()
		d.Flush().Release()
	})
	if per > 200 { // Arrow's own objects, once a flush
		t.Errorf("%v allocations for 1000 records", per)
	}
}
