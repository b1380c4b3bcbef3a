package zorder

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/sluicedata/sluice/schema"
)

// everyType is a schema with all types of a table.
func everyType(t testing.TB) *arrow.Schema {
	s := schemaOf(t, plainTypes)
	return arrow.NewSchema(append(s.Fields(), arrow.Field{Name: "v", Type: schema.Of(schema.Variant).ArrowType(), Nullable: true}), nil)
}

// plainTypes are those that DDL can spell.
const plainTypes = `struct<b:boolean,i8:byte,i16:short,i32:int,i64:long,f32:float,f64:double,d:decimal(38,2),s:string,y:binary,day:date,ts:timestamp,
	ntz:timestamp_ntz,l:array<array<string>>,m:map<string,int>,st:struct<x:short,in:struct<z:string>>>`

// everyRow are rows of everyType.
var everyRow = []string{
	`{"b":true,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"f32":-1.5,"f64":5e-324,"d":"-99999999999999999999999.99","s":"é","y":"AAH/","day":"1969-12-31",
		"ts":"1969-12-31T23:59:59.999999Z","ntz":"1969-12-31T23:59:59.999999","l":[["a",null],[],null],"m":[{"key":"k","value":null},{"key":"","value":7}],"st":{"x":3,"in":{"z":"w"}},
		"v":{"metadata":"AQAA","value":"DAc="}}`,
	`{}`,
	`{"b":false,"i8":127,"i16":0,"i32":0,"i64":0,"f32":0,"f64":0,"d":"0.01","s":"","y":"","day":"9999-12-31","ts":"2026-01-01T00:00:00Z","l":[],"m":[],"st":{"x":null,"in":{"z":null}}}`,
	`{"st":{"x":1,"in":null},"l":[[]]}`,
	`{"s":"a text that is somewhat longer","l":[["a","b"],["a"]],"m":[{"key":"x","value":1}],"i64":5,"ntz":"2026-01-01T00:00:00","v":{"metadata":"AQAA","value":"DAg="}}`,
	`{"s":"é","y":"AAH/","l":[[null]]}`,
}

func schemaOf(t testing.TB, ddl string) *arrow.Schema {
	t.Helper()
	s, err := schema.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return s.ArrowSchema()
}

// recordOf makes a record of rows, some of whose texts are in dictionaries, as a scan hands them out.
func recordOf(t testing.TB, s *arrow.Schema, rows []string, inDictionaries bool) arrow.Record {
	t.Helper()
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, s, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	if !inDictionaries {
		return record
	}
	fields, columns := s.Fields(), record.Columns()
	for i := range columns {
		data := indexed(t, columns[i].Data())
		fields[i].Type, columns[i] = data.DataType(), array.MakeFromData(data)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows())
}

// indexed has texts, and those in lists, in a dictionary.
func indexed(t testing.TB, d arrow.ArrayData) arrow.ArrayData {
	t.Helper()
	switch typ := d.DataType().(type) {
	case *arrow.ListType:
		items := indexed(t, d.Children()[0])
		return array.NewData(arrow.ListOf(items.DataType()), d.Len(), d.Buffers(), []arrow.ArrayData{items}, d.NullN(), 0)
	case *arrow.StringType, *arrow.BinaryType:
		b := array.NewDictionaryBuilder(arrowmemory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: typ})
		if err := b.AppendArray(array.MakeFromData(d)); err != nil {
			t.Fatal(err)
		}
		return b.NewArray().Data()
	default:
		return d
	}
}

// textsOf are the rows of a record as text.
func textsOf(record arrow.Record) []string {
	texts := make([]string, record.NumRows())
	for _, c := range record.Columns() {
		for i := range texts {
			texts[i] += c.ValueStr(i) + ";"
		}
	}
	return texts
}

// TestValuesOfEveryTypeAreGathered gathers rows of several records at random, of some through a block of a scratch file, and
// compares with the rows themselves.
func TestValuesOfEveryTypeAreGathered(t *testing.T) {
	s := everyType(t)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows := newRows(s)
		rows.giveRoom([]int64{0, 200, 1 << 20}[seed%3])
		var columns []*column
		var texts [][]string
		for range 1 + r.IntN(4) {
			some := make([]string, 1+r.IntN(20))
			for i := range some {
				some[i] = everyRow[r.IntN(len(everyRow))]
			}
			record := recordOf(t, s, some, r.IntN(2) == 0)
			c, err := rows.viewRows(make([]uint64, len(some)), record)
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				var rest []byte
				if c, rest = rows.columnOf(c.appendTo(nil)); len(rest) > 0 {
					t.Fatalf("seed %d: %d bytes are left of a block", seed, len(rest))
				}
			}
			columns, texts = append(columns, c), append(texts, textsOf(record))
		}
		out := newColumn(rows)
		for range 3 {
			out.reset()
			var want []string
			for range r.IntN(4) {
				of := r.IntN(len(columns))
				from, picks := []*column{columns[of]}, make([]pick, r.IntN(30))
				if r.IntN(2) == 0 {
					from, of = columns, 0
				}
				for i := range picks {
					p := uint32(r.IntN(len(from)))
					picks[i] = pick{p, uint32(r.IntN(from[p].n))}
					want = append(want, texts[of+int(p)][picks[i].at])
				}
				if err := out.gather(newSources(from), picks); err != nil {
					t.Fatal(err)
				}
			}
			record := out.record()
			if got := textsOf(record); !slices.Equal(want, got) {
				t.Fatalf("seed %d:\n%q\nwant\n%q", seed, got, want)
			}
		}
	}
}
