package table

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// widenColumn changes the type of the table's column c as another engine would.
func widenColumn(t *testing.T, tbl *Table, from, to *schema.Type) {
	t.Helper()
	name := func(t *schema.Type) string { // as the log spells it
		_, name, _ := strings.Cut(schema.StructOf(schema.Field{Name: "c", Type: t}).JSON(), `"name":"c","type":`)
		name, _, _ = strings.Cut(name, `,"nullable"`)
		return name
	}
	alter(t, tbl, func(_ *commitlog.Metadata, s *schema.Type) {
		s.Fields[0].Type = to
		s.Fields[0].Metadata = map[string]json.RawMessage{
			"delta.typeChanges": fmt.Appendf(nil, `[{"fromType":%s,"toType":%s}]`, name(from), name(to)),
		}
	})
}

func TestWidenedColumnsReadOldFilesAndAreRewrittenAsTheyAre(t *testing.T) {
	for _, tc := range []struct{ from, to, old, wide string }{
		{"byte", "short", `-128`, `-128`},
		{"byte", "int", `127`, `127`},
		{"byte", "long", `-1`, `-1`},
		{"short", "int", `-32768`, `-32768`},
		{"short", "long", `5`, `5`},
		{"int", "long", `-2147483648`, `-2147483648`},
		{"float", "double", `0.1`, fmt.Sprint(float64(float32(0.1)))},
		{"byte", "double", `7`, `7`},
		{"short", "double", `-7`, `-7`},
		{"int", "double", `2147483647`, `2147483647`},
		{"decimal(5,2)", "decimal(7,2)", `"-123.45"`, `"-123.45"`},
		{"decimal(5,2)", "decimal(30,4)", `"-123.45"`, `"-123.4500"`},
		{"decimal(18,0)", "decimal(38,20)", `"-5"`, `"-5.00000000000000000000"`},
		{"byte", "decimal(10,0)", `-5`, `"-5"`},
		{"short", "decimal(11,1)", `5`, `"5.0"`},
		{"int", "decimal(38,28)", `-5`, `"-5.0000000000000000000000000000"`},
		{"long", "decimal(20,0)", `-9223372036854775808`, `"-9223372036854775808"`},
		{"date", "timestamp_ntz", `"1969-12-31"`, `"1969-12-31 00:00:00"`},
	} {
		t.Run(tc.from+" to "+tc.to, func(t *testing.T) {
			was, is := parseSchema(t, "c:"+tc.from+",ntz:timestamp_ntz"), parseSchema(t, "c:"+tc.to+",ntz:timestamp_ntz")
			tbl := newTestTable(t, Options{})
			appendRecords(t, tbl, &Create{Schema: was}, 0, record(t, was, `[{"c":`+tc.old+`},{"c":null}]`))
			widenColumn(t, tbl, was.Fields[0].Type, is.Fields[0].Type)
			want := rowTexts(record(t, is, `[{"c":`+tc.wide+`},{"c":null}]`))
			if diff := cmp.Diff(want, scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Fatal(diff)
			}
			value := rowValue(t, tbl)
			checkFound(t, tbl, value)
			appendRecords(t, tbl, nil, 1, record(t, is, `[{"c":`+tc.wide+`}]`))
			rewriteAll(t, tbl)
			if diff := cmp.Diff(append(want, want[0]), scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Fatal(diff)
			}
			checkFound(t, tbl, value)
		})
	}
}

// rowValue is the highest value of column c, by the statistics of the only file.
func rowValue(t *testing.T, tbl *Table) Value {
	t.Helper()
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	return filesOf(t, snap)[0].Stats().Max["c"]
}

// checkFound fails if statistics hide the file that holds the value.
func checkFound(t *testing.T, tbl *Table, v Value) {
	t.Helper()
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	if ts := snap.Schema().Fields[0].Type; ts.Kind == schema.TimestampNTZ {
		v = v.(int64) - 999 // the room that is made for what is cut off
	}
	for _, op := range []Op{Equal, LessOrEqual, GreaterOrEqual} {
		if files, err := snap.FilesWhere(t.Context(), &Predicate{Op: op, Column: []string{"c"}, Values: []Value{v}}); err != nil || len(files) == 0 {
			t.Errorf("c %s %v: %v %v", op, v, files, err)
		}
	}
}

// TestBoundsOfFloatsAreWhatTheyStandFor: other writers write the float nearest to 0.1 as 0.1, which is less than it.
func TestBoundsOfFloatsAreWhatTheyStandFor(t *testing.T) {
	const stats = `{"numRecords":1,"minValues":{"c":0.1,"d":0.3},"maxValues":{"c":0.1,"d":0.3},"nullCount":{}}`
	tenth, threeTenths := float64(float32(0.1)), float64(float32(0.3)) // above 0.1, and above 0.3
	s := parseSchema(t, "c:float,d:double")
	got := parseStats(s, stats)
	if got.Min["c"] != tenth || got.Max["c"] != tenth || got.Min["d"] != 0.3 || got.Max["d"] != 0.3 {
		t.Errorf("got %+v", got)
	}
	s.Fields[1].Metadata = map[string]json.RawMessage{"delta.typeChanges": json.RawMessage(`[{"fromType":"float","toType":"double"}]`)}
	if got := parseStats(s, stats); got.Min["d"] != 0.3 || got.Max["d"] != threeTenths || threeTenths <= 0.3 {
		t.Errorf("widened: %+v", got)
	}
	below := strings.ReplaceAll(stats, "0.3", "0.7") // the float nearest to 0.7 is below it
	if got := parseStats(s, below); got.Min["d"] != float64(float32(0.7)) || got.Max["d"] != 0.7 {
		t.Errorf("widened: %+v", got)
	}
	if got := parseStats(s, strings.ReplaceAll(stats, "0.3", "1e300")); got.Max["d"] != math.Inf(1) || got.Min["d"] != 1e300 {
		t.Errorf("widened: %+v", got)
	}
}
