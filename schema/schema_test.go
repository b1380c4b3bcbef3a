package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
)

func ExampleParseDDL() {
	t, err := ParseDDL("struct<os:string NOT NULL, screen_w:int>")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.JSON())
	_, err = ParseDDL("struct<os:strng>")
	fmt.Println(err)
	// Output:
	// {"type":"struct","fields":[{"name":"os","type":"string","nullable":false,"metadata":{}},{"name":"screen_w","type":"integer","nullable":true,"metadata":{}}]}
	// type "struct<os:strng>", character 11: unknown type "strng"; did you mean string?
}

const everything = `{"type":"struct","fields":[` +
	`{"name":"b","type":"boolean","nullable":true,"metadata":{}},` +
	`{"name":"i8","type":"byte","nullable":false,"metadata":{}},` +
	`{"name":"i16","type":"short","nullable":true,"metadata":{}},` +
	`{"name":"i32","type":"integer","nullable":true,"metadata":{"comment":"é <b>","x.y":{"z":[1,2.50]}}},` +
	`{"name":"i64","type":"long","nullable":true,"metadata":{}},` +
	`{"name":"f","type":"float","nullable":true,"metadata":{}},` +
	`{"name":"d","type":"double","nullable":true,"metadata":{}},` +
	`{"name":"dec","type":"decimal(38,18)","nullable":true,"metadata":{}},` +
	`{"name":"s","type":"string","nullable":true,"metadata":{}},` +
	`{"name":"bin","type":"binary","nullable":true,"metadata":{}},` +
	`{"name":"day","type":"date","nullable":true,"metadata":{}},` +
	`{"name":"ts","type":"timestamp","nullable":true,"metadata":{}},` +
	`{"name":"ntz","type":"timestamp_ntz","nullable":true,"metadata":{}},` +
	`{"name":"a","type":{"type":"array","elementType":"long","containsNull":false},"nullable":true,"metadata":{}},` +
	`{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"integer","containsNull":true},"valueContainsNull":false},"nullable":true,"metadata":{}},` +
	`{"name":"st","type":{"type":"struct","fields":[{"name":"x y","type":"string","nullable":false,"metadata":{}}]},"nullable":true,"metadata":{}}` +
	`]}`

func TestJSONRoundTripIsExact(t *testing.T) {
	parsed, err := ParseJSON(everything)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everything, parsed.JSON()); diff != "" {
		t.Error(diff)
	}
	again, err := ParseJSON(strings.ReplaceAll(everything, `,"`, ", \n\""))
	if err != nil {
		t.Fatal(err)
	}
	if !parsed.Equal(again) {
		t.Error("white space makes a difference")
	}
}

func TestJSONRefusesWhatOtherReadersRefuse(t *testing.T) {
	field := func(typ string) string {
		return `{"type":"struct","fields":[{"name":"c","type":` + typ + `,"nullable":true,"metadata":{}}]}`
	}
	for name, tc := range map[string]struct{ in, want string }{
		"alias":             {field(`"bigint"`), `column c: the type "bigint" is an alias`},
		"int alias":         {field(`"int"`), `"integer"`},
		"unknown":           {field(`"geometry"`), `unknown type "geometry"`},
		"decimal too wide":  {field(`"decimal(39,0)"`), "38"},
		"decimal bad scale": {field(`"decimal(3,4)"`), "38"},
		"decimal unclosed":  {field(`"decimal(3,1"`), "38"},
		"no containsNull":   {field(`{"type":"array","elementType":"long"}`), "containsNull"},
		"no metadata":       {`{"type":"struct","fields":[{"name":"c","type":"long","nullable":true}]}`, "metadata"},
		"no nullable":       {`{"type":"struct","fields":[{"name":"c","type":"long","metadata":{}}]}`, "nullable"},
		"no name":           {`{"type":"struct","fields":[{"type":"long","nullable":true,"metadata":{}}]}`, "name"},
		"no type":           {`{"type":"struct","fields":[{"name":"c","nullable":true,"metadata":{}}]}`, "missing"},
		"no fields":         {`{"type":"struct"}`, "without fields"},
		"not a struct":      {`"long"`, "a table's schema is a struct"},
		"empty":             {``, "missing"},
		"torn":              {everything[:100], "unexpected EOF"},
		"trailing":          {everything + "{}", "behind"},
		"case":              {`{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},{"name":"ID","type":"long","nullable":true,"metadata":{}}]}`, "differ in case"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseJSON(tc.in); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestDDLAliases(t *testing.T) {
	for in, want := range map[string]string{
		"int": "int", "INTEGER": "int", "bigint": "long", "Long": "long", "smallint": "short", "short": "short", "tinyint": "byte",
		"byte": "byte", "bool": "boolean", "boolean": "boolean", "real": "float", "float": "float", "double": "double",
		"dec(5,1)": "decimal(5,1)", "numeric": "decimal(10,0)", "decimal( 7 )": "decimal(7,0)", "decimal(10,2)": "decimal(10,2)",
		" timestamp_ntz ": "timestamp_ntz", "timestamp": "timestamp", "date": "date", "binary": "binary",
		"map<string,array<int>>":                           "map<string,array<int>>",
		"Array < struct < a : int , b bigint > >":          "array<struct<a:int,b:long>>",
		"struct<a:int NOT NULL, b:string comment 'it''s'>": "struct<a:int NOT NULL,b:string COMMENT 'it''s'>",
		"struct<`x y`:int,`a``b`:string,é:date>":           "struct<`x y`:int,`a``b`:string,é:date>",
		"struct<>": "struct<>",
	} {
		got, err := ParseDDL(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got.DDL() != want {
			t.Errorf("%s: got %s, want %s", in, got.DDL(), want)
		}
		if again, err := ParseDDL(got.DDL()); err != nil || !again.Equal(got) {
			t.Errorf("%s: DDL %s does not read back: %v", in, got.DDL(), err)
		}
	}
}

func TestDDLErrorsHavePositionAndSuggestion(t *testing.T) {
	for in, want := range map[string]string{
		"":                        `character 1: expected a type, found end`,
		"strin":                   `character 1: unknown type "strin"; did you mean string?`,
		"varchar(10)":             `unknown type "varchar"; write string`,
		"struct<a:int64>":         `character 10: unknown type "int64"; write long`,
		"array<int":               `character 10: expected '>'`,
		"map<string>":             `character 11: expected ','`,
		"decimal(39,1)":           `decimal(39,1) does not exist`,
		"decimal(x)":              `character 9: expected the number of digits`,
		"int int":                 `character 5: unexpected 'i' behind the type`,
		"struct<a:int NOT b:int>": `character 14: expected NULL behind NOT`,
		"struct<a:int,A:int>":     `character 14: the names "a" and "A" differ in case only`,
		"struct<`a:int>":          "character 8: the name has no closing `",
		"struct<é é:int>":         `character 10: expected a type`,
		"struct<é:int x>":         `character 14: unexpected "x"`,
		"struct<a:int COMMENT x>": `expected a text in quotes`,
	} {
		_, err := ParseDDL(in)
		var ddl *DDLError
		if !errors.As(err, &ddl) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
	if _, err := ParseDDL(strings.Repeat("array<", 1_000_000)); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Error("a million arrays are let in")
	}
}

func TestCheckNamesReturnsAllFaults(t *testing.T) {
	s := StructOf(
		Field{Name: "US Gross", Type: Of(Long)},
		Field{Name: "ok", Type: ArrayOf(StructOf(Field{Name: "a=b", Type: Of(Long)}, Field{Name: "", Type: Of(Long)}))},
		Field{Name: "OK", Type: Of(Long)},
		Field{Name: "with.dot-é", Type: Of(Long)},
	)
	var got []string
	for _, err := range s.CheckNames(Unmapped) {
		got = append(got, err.Error())
	}
	if len(got) != 4 || !strings.Contains(got[0], `"US_Gross"`) || !strings.Contains(got[1], "differ in case") ||
		!strings.HasPrefix(got[2], "in ok.element: ") || !strings.Contains(got[3], "empty") {
		t.Errorf("got %q", got)
	}
}

func TestArrowRoundTrip(t *testing.T) {
	parsed, err := ParseJSON(everything)
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromArrowSchema(parsed.ArrowSchema())
	if err != nil {
		t.Fatal(err)
	}
	parsed.Fields[3].Metadata = nil // Arrow does not carry it
	if !parsed.Equal(back) {
		t.Errorf("got %s\nwant %s", back.JSON(), parsed.JSON())
	}
}

func TestTextsMayBeInADictionary(t *testing.T) {
	for _, want := range []Kind{String, Binary} {
		got, err := FromArrow(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: Of(want).ArrowType()})
		if err != nil || got.Kind != want {
			t.Errorf("%v, want %v: %v", got, want, err)
		}
	}
	for _, d := range []*arrow.DictionaryType{
		{IndexType: arrow.PrimitiveTypes.Int64, ValueType: arrow.BinaryTypes.String},
		{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Int64},
	} {
		if got, err := FromArrow(d); err == nil {
			t.Errorf("%s is a %s", d, got)
		}
	}
}

func TestEqualSeesEveryDifference(t *testing.T) {
	base := func() *Type {
		return StructOf(Field{Name: "a", Type: ArrayOf(Of(Long)), Nullable: true, Metadata: map[string]json.RawMessage{"k": json.RawMessage(`1`)}},
			Field{Name: "m", Type: MapOf(Of(String), DecimalOf(5, 2))})
	}
	if !base().Equal(base()) {
		t.Fatal("a type differs from itself")
	}
	for i, change := range []func(*Type){
		func(x *Type) { x.Fields[0].Name = "b" },
		func(x *Type) { x.Fields[0].Nullable = false },
		func(x *Type) { x.Fields[0].Metadata = nil },
		func(x *Type) { x.Fields[0].Metadata["k"] = json.RawMessage(`2`) },
		func(x *Type) { x.Fields[0].Type.ContainsNull = false },
		func(x *Type) { x.Fields[0].Type.Elem = Of(Integer) },
		func(x *Type) { x.Fields[1].Type.Key = Of(Integer) },
		func(x *Type) { x.Fields[1].Type.Elem = DecimalOf(5, 1) },
		func(x *Type) { x.Fields = x.Fields[:1] },
	} {
		changed := base()
		change(changed)
		if changed.Equal(base()) || base().Equal(changed) {
			t.Errorf("change %d is not seen", i)
		}
	}
}

func FuzzParseDDL(f *testing.F) {
	for _, s := range []string{"int", "struct<a:int NOT NULL,`b c`:map<string,array<decimal(3,1)>> COMMENT 'x'>", "array<", "struct<a:int,A:int>", "decimal(", "struct<\xff:int>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := ParseDDL(s)
		if err != nil {
			var ddl *DDLError
			if !errors.As(err, &ddl) || ddl.Offset > len(s) {
				t.Fatalf("%q: %v", s, err)
			}
			_ = err.Error()
			return
		}
		again, err := ParseDDL(parsed.DDL())
		if err != nil || !again.Equal(parsed) {
			t.Fatalf("%q: DDL %q does not read back: %v", s, parsed.DDL(), err)
		}
		table := StructOf(Field{Name: "c", Type: parsed})
		if again, err = ParseJSON(table.JSON()); err != nil || !again.Equal(table) {
			t.Fatalf("%q: JSON %s does not read back: %v", s, table.JSON(), err)
		}
	})
}
