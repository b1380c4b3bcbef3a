package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/internal/parquettest"
	"github.com/sluicedata/sluice/schema"
)

// foreignFile writes rows with a Parquet schema of somebody else's, and reads them as the type.
func foreignFile(t *testing.T, node parquet.Node, rows [][]parquet.Value, typ *schema.Type, options ...parquet.WriterOption) ([]string, error) {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewWriter(&buf, append([]parquet.WriterOption{parquet.NewSchema("foreign", node)}, options...)...)
	for _, row := range rows {
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return readBytes(t, buf.Bytes(), typ)
}

func readBytes(t *testing.T, body []byte, typ *schema.Type) ([]string, error) {
	t.Helper()
	store := newMemStore()
	store.objects["f.parquet"] = body
	var got []string
	r := fileReader{file: place{reader: store, key: "f.parquet"}, schema: typ, fn: func(r arrow.Record) error {
		got = append(got, rowTexts(r)...)
		return nil
	}}
	err := r.read(t.Context())
	return got, err
}

func one(v parquet.Value, rep, def, column int) parquet.Value { return v.Level(rep, def, column) }

func TestFormsOfOtherWritersAreRead(t *testing.T) {
	int96 := parquet.Leaf(parquet.Int96Type)
	fixed := func(n int) parquet.Type { return parquet.FixedLenByteArrayType(n) }
	for name, tc := range map[string]struct {
		node    parquet.Node
		rows    [][]parquet.Value
		typ     string
		want    []string
		options []parquet.WriterOption
	}{
		"INT96 timestamp": {
			parquet.Group{"c": parquet.Optional(int96)},
			[][]parquet.Value{
				{one(parquet.Int96Value(deprecated.Int96{1_000_500, 0, 2440588}), 0, 1, 0)},
				{one(parquet.Int96Value(deprecated.Int96{0, 0, 2440587}), 0, 1, 0)},
				{one(parquet.Value{}, 0, 0, 0)},
			},
			"c:timestamp",
			[]string{"c=t1000 ", "c=t-86400000000 ", "c=null "},
			nil,
		},
		"milliseconds, required, v2 pages": {
			parquet.Group{"c": parquet.Timestamp(parquet.Millisecond)},
			[][]parquet.Value{{one(parquet.Int64Value(-5), 0, 0, 0)}},
			"c:timestamp",
			[]string{"c=t-5000 "},
			[]parquet.WriterOption{parquet.DataPageVersion(2)},
		},
		"nanoseconds": {
			parquet.Group{"c": parquet.Timestamp(parquet.Nanosecond)},
			[][]parquet.Value{{one(parquet.Int64Value(-1), 0, 0, 0)}, {one(parquet.Int64Value(1999), 0, 0, 0)}},
			"c:timestamp_ntz",
			[]string{"c=t-1 ", "c=t1 "},
			nil,
		},
		"decimal in bytes, smaller scale": {
			parquet.Group{"c": parquet.Decimal(1, 20, parquet.ByteArrayType)},
			[][]parquet.Value{{one(parquet.ByteArrayValue([]byte{0xff}), 0, 0, 0)}, {one(parquet.ByteArrayValue([]byte{1, 0}), 0, 0, 0)}},
			"c:decimal(30,2)",
			[]string{"c=-10 ", "c=2560 "},
			nil,
		},
		"decimal in more bytes than need be": {
			parquet.Group{"c": parquet.Decimal(2, 9, fixed(20))},
			[][]parquet.Value{{one(parquet.FixedLenByteArrayValue(bytes.Repeat([]byte{0xff}, 20)), 0, 0, 0)}},
			"c:decimal(9,2)",
			[]string{"c=-1 "},
			nil,
		},
		"narrower number": {
			parquet.Group{"c": parquet.Leaf(parquet.Int32Type)}, [][]parquet.Value{{one(parquet.Int32Value(-7), 0, 0, 0)}}, "c:long", []string{"c=-7 "}, nil,
		},
		"extra and missing columns, other order": {
			parquet.Group{"a": parquet.Leaf(parquet.Int32Type), "x": parquet.String()},
			[][]parquet.Value{{one(parquet.Int32Value(1), 0, 0, 0), one(parquet.ByteArrayValue([]byte("s")), 0, 0, 1)}},
			"x:string,b:int,a:int",
			[]string{`x="s" b=null a=1 `},
			nil,
		},
		"repeated field": {
			parquet.Group{"c": parquet.Repeated(parquet.Leaf(parquet.Int32Type))},
			[][]parquet.Value{
				{one(parquet.Int32Value(1), 0, 1, 0), one(parquet.Int32Value(2), 1, 1, 0)}, {one(parquet.Value{}, 0, 0, 0)}, {one(parquet.Int32Value(3), 0, 1, 0)},
			},
			"c:array<int>",
			[]string{"c=[1;2;] ", "c=[] ", "c=[3;] "},
			nil,
		},
		"list of two levels": {
			parquet.Group{"c": parquet.Optional(parquet.Group{"array": parquet.Repeated(parquet.Leaf(parquet.Int32Type))})},
			[][]parquet.Value{
				{one(parquet.Int32Value(1), 0, 2, 0), one(parquet.Int32Value(2), 1, 2, 0)}, {one(parquet.Value{}, 0, 1, 0)}, {one(parquet.Value{}, 0, 0, 0)},
			},
			"c:array<int>",
			[]string{"c=[1;2;] ", "c=[] ", "c=null "},
			nil,
		},
		"list of two levels, of structs": {
			parquet.Group{"c": parquet.Optional(parquet.Group{"array": parquet.Repeated(parquet.Group{
				"x": parquet.Leaf(parquet.Int32Type), "y": parquet.Optional(parquet.Leaf(parquet.Int32Type)),
			})})},
			[][]parquet.Value{
				{one(parquet.Int32Value(1), 0, 2, 0), one(parquet.Int32Value(2), 1, 2, 0), one(parquet.Value{}, 0, 2, 1), one(parquet.Int32Value(5), 1, 3, 1)},
				{one(parquet.Value{}, 0, 0, 0), one(parquet.Value{}, 0, 0, 1)},
			},
			"c:array<struct<y:int,x:int>>",
			[]string{"c=[(null;1;);(5;2;);] ", "c=null "},
			nil,
		},
		"list with names of Hive": {
			parquet.Group{"c": parquet.Optional(parquet.Group{"bag": parquet.Repeated(parquet.Group{"array_element": parquet.Optional(parquet.Leaf(parquet.Int32Type))})})},
			[][]parquet.Value{{one(parquet.Int32Value(1), 0, 3, 0), one(parquet.Value{}, 1, 2, 0)}},
			"c:array<int>",
			[]string{"c=[1;null;] "},
			nil,
		},
		"struct none of whose fields is asked for": {
			parquet.Group{"c": parquet.Optional(parquet.Group{"l": parquet.Repeated(parquet.Leaf(parquet.Int32Type))})},
			[][]parquet.Value{{one(parquet.Int32Value(1), 0, 2, 0), one(parquet.Int32Value(2), 1, 2, 0)}, {one(parquet.Value{}, 0, 0, 0)}, {one(parquet.Value{}, 0, 1, 0)}},
			"c:struct<z:int>",
			[]string{"c=(null;) ", "c=null ", "c=(null;) "},
			nil,
		},
		"list of structs none of whose fields is asked for": {
			parquet.Group{"c": parquet.Optional(parquet.Group{"list": parquet.Repeated(parquet.Group{"element": parquet.Group{"x": parquet.Leaf(parquet.Int32Type)}})})},
			[][]parquet.Value{{one(parquet.Int32Value(1), 0, 2, 0), one(parquet.Int32Value(2), 1, 2, 0)}, {one(parquet.Value{}, 0, 1, 0)}},
			"c:array<struct<z:int>>",
			[]string{"c=[(null;);(null;);] ", "c=[] "},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := foreignFile(t, tc.node, tc.rows, parseSchema(t, tc.typ), tc.options...)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q, %v\nwant %q", got, err, tc.want)
			}
		})
	}
}

func TestFilesThatDoNotFitTheSchemaAreRefusedByColumn(t *testing.T) {
	row := [][]parquet.Value{{one(parquet.Int64Value(1<<40), 0, 0, 0)}}
	for typ, want := range map[string]string{
		"c:int": "column c: the file stores", "c:string": "column c: the file stores", "c:array<long>": "stores no list", "c:struct<a:int>": "column c: the file stores",
		"c:map<string,int>": "stores no map",
	} {
		_, err := foreignFile(t, parquet.Group{"c": parquet.Leaf(parquet.Int64Type)}, row, parseSchema(t, typ))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f.parquet") {
			t.Errorf("%s: %v", typ, err)
		}
	}
	_, err := foreignFile(t, parquet.Group{"c": parquet.Leaf(parquet.Int32Type)}, [][]parquet.Value{{one(parquet.Int32Value(300), 0, 0, 0)}}, parseSchema(t, "c:byte"))
	if err == nil || !strings.Contains(err.Error(), "300 does not fit") {
		t.Errorf("got %v", err)
	}
}

// writtenFile is one data file with the rows.
func writtenFile(t testing.TB, s *schema.Type, properties map[string]string, records ...arrow.Record) []byte {
	t.Helper()
	store := newMemStore()
	appendAll(t, New(store, Options{EngineVersion: "1.2.3"}), 0, &Create{Schema: s, Properties: properties}, records...)
	keys := store.dataKeys()
	if len(keys) != 1 {
		t.Fatalf("files %v", keys)
	}
	return store.objects[keys[0]]
}

func TestDamagedFilesAreErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	s := parseSchema(t, "a:long,s:struct<x:timestamp,y:string>,l:array<int>,m:map<string,date>,d:decimal(20,2)")
	good := parquettest.WithoutChecksums(t, writtenFile(t, s, nil, randomRecord(r, s, 20)))
	want, err := readBytes(t, good, s)
	if err != nil || len(want) != 20 {
		t.Fatal(err)
	}
	for range 1500 {
		bad := bytes.Clone(good)
		switch r.IntN(3) {
		case 0:
			bad = bad[:r.IntN(len(bad))]
		default:
			for range 1 + r.IntN(4) {
				bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			}
		}
		_, _ = readBytes(t, bad, s) // an error or other rows, but no panic
	}
}

func TestFilesAreWhatEveryReaderKnows(t *testing.T) {
	s := parseSchema(t, "z:byte,y:short NOT NULL,x:int,w:long,v:float,u:double,t:decimal(9,2),s:decimal(18,0),r:decimal(38,10),q:string,p:binary,"+
		"o:date,n:timestamp,m:boolean,l:array<string>,k:map<string,int>,j:struct<b:int,a:string>")
	r := rand.New(rand.NewPCG(4, 4))
	for codecName, want := range map[string]format.CompressionCodec{"": format.Snappy, "zstd": format.Zstd, "lz4_raw": format.Lz4Raw, "gzip": format.Gzip, "uncompressed": format.Uncompressed} {
		properties := map[string]string{}
		if codecName != "" {
			properties[codecProperty] = codecName
		}
		body := writtenFile(t, s, properties, randomRecord(r, s, 2000))
		f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		meta := f.Metadata()
		if meta.CreatedBy != "sluice version 1.2.3" {
			t.Errorf("created by %q", meta.CreatedBy)
		}
		for _, c := range meta.RowGroups[0].Columns {
			m := c.MetaData
			if m.Codec != want || c.OffsetIndexLength == 0 {
				t.Errorf("column %v: codec %v, offset index of %d bytes", m.PathInSchema, m.Codec, c.OffsetIndexLength)
			}
			// The floats have a NaN among them, of whose place readers think differently; the texts may have one of the greatest
			// characters alone, which has no short bound.
			bounded := m.Statistics.MaxValue != nil && c.ColumnIndexLength > 0
			switch text := strings.Contains("q l k j", m.PathInSchema[0]); {
			case m.Type == format.Double || m.Type == format.Float:
				if bounded {
					t.Errorf("column %v: bounds %+v", m.PathInSchema, m.Statistics)
				}
			case !bounded && !text:
				t.Errorf("column %v: no bounds in %+v, and a column index of %d bytes", m.PathInSchema, m.Statistics, c.ColumnIndexLength)
			}
			for _, e := range m.Encoding {
				if e != format.Plain && e != format.RLE && e != format.RLEDictionary {
					t.Errorf("column %v: encoding %v", m.PathInSchema, e)
				}
			}
			for _, e := range m.EncodingStats {
				if e.PageType == format.DataPageV2 {
					t.Errorf("column %v has pages of version 2", m.PathInSchema)
				}
			}
		}
		// parquet-go prints integers without an annotation as if they had one; see below.
		wantSchema := `message spark_schema {
	optional int32 z (INT(8,true));
	required int32 y (INT(16,true));
	optional int32 x (INT(32,true));
	optional int64 w (INT(64,true));
	optional float v;
	optional double u;
	optional int32 t (DECIMAL(9,2));
	optional int64 s (DECIMAL(18,0));
	optional fixed_len_byte_array(16) r (DECIMAL(38,10));
	optional binary q (STRING);
	optional binary p;
	optional int32 o (DATE);
	optional int64 n (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS));
	optional boolean m;
	optional group l (LIST) {
		repeated group list {
			optional binary element (STRING);
		}
	}
	optional group k (MAP) {
		repeated group key_value {
			required binary key (STRING);
			optional int32 value (INT(32,true));
		}
	}
	optional group j {
		optional int32 b (INT(32,true));
		optional binary a (STRING);
	}
}`
		if diff := cmp.Diff(wantSchema, f.Schema().String()); diff != "" {
			t.Error(diff)
		}
		for _, e := range meta.Schema {
			annotated := e.LogicalType.Value != nil || e.ConvertedType.Valid
			if plain := slices.Contains([]string{"x", "w", "v", "u", "p", "m", "b", "value"}, e.Name); plain && annotated {
				t.Errorf("column %s is annotated", e.Name)
			}
		}
	}
}

func TestDictionaryEndsWhereItIsOfNoUse(t *testing.T) {
	long(t)
	for name, c := range map[string]struct{ different, plain, dictionary int32 }{
		"few":           {different: 100, dictionary: 3},
		"many":          {different: 8_000, plain: 5, dictionary: 1},
		"all different": {different: 60_000, plain: 7},
	} {
		r := rand.New(rand.NewPCG(6, 6))
		s := parseSchema(t, "a:string")
		texts := make([]string, c.different)
		for i := range texts {
			texts[i] = strings.Repeat(string(rune('a'+r.IntN(26))), 114) + randomHex(r)
		}
		rows := make([]string, 60_000)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"a":%q}`, texts[r.IntN(len(texts))])
		}
		rec := record(t, s, "["+strings.Join(rows, ",")+"]")
		body := writtenFile(t, s, nil, rec)
		f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		var plain, dictionary int32
		for _, e := range f.Metadata().RowGroups[0].Columns[0].MetaData.EncodingStats {
			if e.PageType == format.DataPage && e.Encoding == format.Plain {
				plain += e.Count
			} else if e.PageType == format.DataPage {
				dictionary += e.Count
			}
		}
		if plain < c.plain || dictionary < c.dictionary || (c.plain == 0) != (plain == 0) || (c.dictionary == 0) != (dictionary == 0) {
			t.Errorf("%s: %d plain pages, %d with dictionary", name, plain, dictionary)
		}
		if got, err := readBytes(t, body, s); err != nil || !slices.Equal(got, rowTexts(rec)) {
			t.Errorf("%s: rows differ: %v", name, err)
		}
	}
}

func randomHex(r *rand.Rand) string {
	const hex = "0123456789abcdef"
	b := make([]byte, 16)
	for i := range b {
		b[i] = hex[r.IntN(16)]
	}
	return string(b)
}
