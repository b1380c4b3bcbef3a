package json_test

import (
	stdjson "encoding/json"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
)

// TestRealRecordsDecodeAsEncodingJSONReadsThem reads real files with their inferred columns and with encoding/json, and
// compares every value at every depth.
func TestRealRecordsDecodeAsEncodingJSONReadsThem(t *testing.T) {
	for _, name := range []string{
		"data/web_requests-100.ndjson", "data/events-1000.ndjson", "data/github_events.json",
		"data/amazon_cellphones.ndjson", "data/earthquakes.json",
	} {
		b := frameBlock(t, shared(t, name))
		in := json.NewInferrer()
		if err := in.Infer(b); err != nil {
			t.Fatal(err)
		}
		columns, _, err := in.Columns()
		if err != nil {
			t.Fatal(err)
		}
		d, err := json.New(columns, json.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(b, refuse(t)); err != nil {
			t.Fatal(err)
		}
		r := d.Flush()
		if int(r.NumRows()) != len(b.Values) {
			t.Fatalf("%s: %d rows of %d records", name, r.NumRows(), len(b.Values))
		}
		for row, record := range b.Values {
			for i, c := range columns {
				same(t, name+" "+c.Name, r.Column(i), row, valueOf(t, record, c))
			}
		}
		r.Release()
	}
}

// valueOf returns the JSON of a top-level column in a record, or nothing.
func valueOf(t *testing.T, record []byte, c format.Column) stdjson.RawMessage {
	t.Helper()
	if len(c.From) > 0 && c.From[0].Field == "" {
		var elements []stdjson.RawMessage
		mustUnmarshal(t, record, &elements)
		if c.From[0].Index >= len(elements) {
			return nil
		}
		return elements[c.From[0].Index]
	}
	name := c.Name
	if len(c.From) > 0 {
		name = c.From[0].Field
	}
	var fields map[string]stdjson.RawMessage
	mustUnmarshal(t, record, &fields)
	return fields[name]
}

func mustUnmarshal(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := stdjson.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// same compares the value with index i of a column with its JSON.
func same(t *testing.T, place string, c arrow.Array, i int, raw stdjson.RawMessage) {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		if c.IsValid(i) {
			t.Errorf("%s: %s where there is nothing", place, c.ValueStr(i))
		}
		return
	}
	if c.IsNull(i) {
		t.Errorf("%s: null instead of %s", place, raw)
		return
	}
	switch c := c.(type) {
	case *array.Struct:
		var fields map[string]stdjson.RawMessage
		mustUnmarshal(t, raw, &fields)
		for k, f := range c.DataType().(*arrow.StructType).Fields() {
			same(t, place+"."+f.Name, c.Field(k), i, fields[f.Name])
		}
	case *array.Dictionary:
		same(t, place, c.Dictionary(), c.GetValueIndex(i), raw)
	case *array.List:
		var elements []stdjson.RawMessage
		mustUnmarshal(t, raw, &elements)
		from, to := c.ValueOffsets(i)
		if int(to-from) != len(elements) {
			t.Errorf("%s: %d elements of %d", place, to-from, len(elements))
			return
		}
		for k, e := range elements {
			same(t, place+"[]", c.ListValues(), int(from)+k, e)
		}
	default:
		sameScalar(t, place, c, i, raw)
	}
}

func sameScalar(t *testing.T, place string, c arrow.Array, i int, raw stdjson.RawMessage) {
	t.Helper()
	var want any
	bad := false
	got := valueAt(c, i)
	switch c := c.(type) {
	case *array.Boolean:
		want, bad = expectBoolean(string(raw))
	case *array.Int64:
		want, bad = expectLong(string(raw))
	case *array.Float64:
		want, bad = expectDouble(string(raw))
	case *array.String:
		want, bad = expectString(string(raw))
	case *array.Timestamp:
		var text string
		mustUnmarshal(t, raw, &text)
		at, err := time.Parse(time.RFC3339Nano, text)
		want, got, bad = at.UnixMicro(), int64(c.Value(i)), err != nil
	default:
		t.Fatalf("%s: %s is not inferred from these files", place, c.DataType())
	}
	if bad || got != want {
		t.Errorf("%s: %v, want %v (%s)", place, got, want, raw)
	}
}
