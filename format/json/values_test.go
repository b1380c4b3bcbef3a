package json_test

import (
	"strings"
	"testing"

	"github.com/sluicedata/sluice/format/json"
)

// one decodes a record {"v":<value>} for one column v of the type, which must not be null. It returns the value as Arrow
// prints it, or "bad: " and the reason behind "field v: ".
func one(t *testing.T, ddl, value string) string {
	t.Helper()
	d := newDecoder(t, "v "+ddl+" not null", "after long")
	rows, bad := decode(t, d, block(`{"v":`+value+`,"after":7}`, `{"v":`+value+`,"after":8}`))
	if len(rows)+len(bad) != 2 || len(rows) == 1 {
		t.Fatalf("%s as %s: %d rows and %d bad records of two equal ones", value, ddl, len(rows), len(bad))
	}
	if len(bad) > 0 {
		if bad[0].Reason != bad[1].Reason {
			t.Errorf("%s as %s: reasons differ: %q, %q", value, ddl, bad[0].Reason, bad[1].Reason)
		}
		return "bad: " + strings.TrimPrefix(bad[0].Reason, "field v: ")
	}
	if rows[0][:len(rows[0])-1] != rows[1][:len(rows[1])-1] {
		t.Errorf("%s as %s: rows differ: %q, %q", value, ddl, rows[0], rows[1])
	}
	return strings.TrimSuffix(rows[0], "|7")
}

// TestNoDateIsKnownBeforeTheFirst asks a decoder that has read no date yet for one of zero bytes.
func TestNoDateIsKnownBeforeTheFirst(t *testing.T) {
	nul, escaped := strings.Repeat("\x00", 10), strings.Repeat(`\u0000`, 10)
	rows, bad := decode(t, newDecoder(t, "at timestamp", "day date"), block(`{"at":"`+nul+`T00:00:00Z"}`, `{"at":"`+escaped+`T00:00:00Z"}`, `{"day":"`+escaped+`"}`))
	if len(rows) != 0 || len(bad) != 3 {
		t.Errorf("rows %q, bad %v", rows, bad)
	}
}

func TestValuesAreStoredExactlyOrBad(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct{ ddl, value, want string }{
		{"boolean", "true", "true"},
		{"boolean", "false", "false"},
		{"boolean", `"yes"`, "bad: a string where boolean is expected"},
		{"boolean", "1", "bad: a number where boolean is expected"},
		{"boolean", "null", "bad: null, and not nullable"},

		{"byte", "-128", "-128"},
		{"byte", "128", "bad: 128 does not fit byte"},
		{"short", "32767", "32767"},
		{"short", "-32769", "bad: -32769 does not fit short"},
		{"int", "2147483647", "2147483647"},
		{"int", "-2147483648", "-2147483648"},
		{"int", "3000000000", "bad: 3000000000 does not fit int"},
		{"long", "9007199254740993", "9007199254740993"},
		{"long", "9007199254740991", "9007199254740991"},
		{"long", "9223372036854775807", "9223372036854775807"},
		{"long", "-9223372036854775808", "-9223372036854775808"},
		{"long", "9223372036854775808", "bad: 9223372036854775808 does not fit long"},
		{"long", "-9223372036854775809", "bad: -9223372036854775809 does not fit long"},
		{"long", "18446744073709551615", "bad: 18446744073709551615 does not fit long"},
		{"long", "99999999999999999999", "bad: 99999999999999999999 does not fit long"},
		{"long", "-0", "0"},
		{"long", "1.0", "1"},
		{"long", "1e3", "1000"},
		{"long", "1.5e1", "15"},
		{"long", "12000e-3", "12"},
		{"long", "9.223372036854775807e18", "9223372036854775807"},
		{"long", "0e999999999999999999999", "0"},
		{"long", "1e999999999999999999999", "bad: 1e999999999999999999999 does not fit long"},
		{"long", "1e-999999999999999999999", "bad: 1e-999999999999999999999 is not a whole number, as long wants it"},
		{"long", "1.5", "bad: 1.5 is not a whole number, as long wants it"},
		{"long", `"123"`, "bad: a string where long is expected"},
		{"long", `"abc"`, "bad: a string where long is expected"},
		{"long", "true", "bad: a boolean where long is expected"},
		{"long", "{}", "bad: an object where long is expected"},
		{"long", "[1]", "bad: an array where long is expected"},

		{"double", "0.1", "0.1"},
		{"double", "-0.0", "-0"},
		{"double", "5", "5"},
		{"double", "583.02", "583.02"},
		{"double", "1e22", "1e+22"},
		{"double", "1.7976931348623157e308", "1.7976931348623157e+308"},
		{"double", "4.9e-324", "5e-324"},
		{"double", "1e-400", "0"},
		{"double", "0.1000000000000000055511151231257827", "0.1"},
		{"double", "9007199254740993", "9.007199254740992e+15"},
		{"double", "1e400", "bad: 1e400 does not fit double"},
		{"double", "-1e400", "bad: -1e400 does not fit double"},
		{"double", `"1.5"`, "bad: a string where double is expected"},
		{"double", `"NaN"`, "bad: a string where double is expected"},
		{"float", "0.1", "0.1"},
		{"float", "16777217", "1.6777216e+07"},
		{"float", "1.00000005960464477540", "1.0000001"},
		{"float", "3.5e38", "bad: 3.5e38 does not fit float"},

		{"decimal(38,18)", "0.1", "0.1"},
		{"decimal(38,18)", "0.123456789012345678", "0.123456789012345678"},
		{"decimal(38,18)", "0.1234567890123456780", "0.123456789012345678"},
		{"decimal(38,18)", "0.1234567890123456789", "bad: 0.1234567890123456789 has more than 18 fraction digits and does not fit decimal(38,18)"},
		{"decimal(38,0)", nines, nines},
		{"decimal(38,0)", "-" + nines, "-" + nines},
		{"decimal(38,0)", "1" + nines, "bad: 1" + nines + " does not fit decimal(38,0)"},
		{"decimal(38,0)", "1e37", "1" + strings.Repeat("0", 37)},
		{"decimal(38,0)", "1e38", "bad: 1e38 does not fit decimal(38,0)"},
		{"decimal(5,2)", "999.99", "999.99"},
		{"decimal(5,2)", "-999.99", "-999.99"},
		{"decimal(5,2)", "1000", "bad: 1000 does not fit decimal(5,2)"},
		{"decimal(5,2)", "1.234e1", "12.34"},
		{"decimal(5,2)", `"12.50"`, "12.5"},
		{"decimal(5,2)", `"1.234"`, "bad: 1.234 has more than 2 fraction digits and does not fit decimal(5,2)"},
		{"decimal(5,2)", `"x"`, `bad: "x" is not a number`},
		{"decimal(5,2)", `" 1"`, `bad: " 1" is not a number`},
		{"decimal(5,2)", `"01"`, `bad: "01" is not a number`},
		{"decimal(5,2)", `""`, `bad: "" is not a number`},
		{"decimal(5,2)", "true", "bad: a boolean where decimal(5,2) is expected"},

		{"string", `"a\u00e9\ud83d\ude00\n\"\/é"`, "aé😀\n\"/é"},
		{"string", `""`, ""},
		{"string", "5", "5"},
		{"string", "1.50e+01", "1.50e+01"},
		{"string", "true", "true"},
		{"string", `{"a": [1 , "\u00e9\ud800"]}`, `{"a": [1 , "\u00e9\ud800"]}`},
		{"string", `"\ud800"`, `bad: byte 6: lone surrogate \ud800 in a string`},
		{"string", `"\udc00\ud800"`, `bad: byte 6: lone surrogate \udc00 in a string`},
		{"string", `"\ud800\u0041"`, `bad: byte 6: lone surrogate \ud800 in a string`},
		{"string", "\"a\tb\"", "bad: byte 7: control character 0x09 in a string"},
		{"string", `"\x"`, "bad: byte 6: unknown escape"},
		{"string", `"\u12g4"`, "bad: byte 6: malformed \\u escape"},
		{"string", "\"\xff\"", "bad: byte 6: invalid UTF-8"},
		{"string", "01", "bad: byte 5: malformed number"},
		{"string", "nul", "bad: byte 5: expected null"},

		{"binary", `"AAEC/w=="`, "AAEC/w=="},
		{"binary", `""`, ""},
		{"binary", `"AAEC_w=="`, `bad: "AAEC_w==" is not base64 text with padding`},
		{"binary", `"AAEC/w"`, `bad: "AAEC/w" is not base64 text with padding`},
		{"binary", `"AAEC/x=="`, `bad: "AAEC/x==" is not base64 text with padding`},
		{"binary", `"AA\nEC"`, "bad: a line break in base64 text"},
		{"binary", "5", "bad: a number where binary (base64 text) is expected"},

		{"date", `"2024-02-29"`, "2024-02-29"},
		{"date", `"0001-01-01"`, "0001-01-01"},
		{"date", `"9999-12-31"`, "9999-12-31"},
		{"date", `"2024-05-01T23:30:00-01:00"`, "2024-05-02"},
		{"date", `"1969-12-31 23:59:59.999999Z"`, "1969-12-31"},
		{"date", `"2023-02-29"`, `bad: "2023-02-29" is not a date: it is not written as in RFC 3339`},
		{"date", `"2024-1-1"`, `bad: "2024-1-1" is not a date: it is not written as in RFC 3339`},
		{"date", `"0000-01-01"`, `bad: "0000-01-01" is not a date: it is not written as in RFC 3339`},
		{"date", "19000", "bad: a number where date (yyyy-MM-dd text) is expected"},

		{"timestamp", `"2024-05-01T10:40:00.125Z"`, "2024-05-01 10:40:00.125Z"},
		{"timestamp", `"2021-03-24T15:06:17.321710+00:00"`, "2021-03-24 15:06:17.32171Z"},
		{"timestamp", `"2024-05-01t10:40:00z"`, "2024-05-01 10:40:00Z"},
		{"timestamp", `"2024-05-01 10:40:00+05:30"`, "2024-05-01 05:10:00Z"},
		{"timestamp", `"2024-05-01T10:40:00"`, "2024-05-01 10:40:00Z"},
		{"timestamp", `"2024-05-01T10:40:00.123456000Z"`, "2024-05-01 10:40:00.123456Z"},
		{"timestamp", `"1969-12-31T23:59:59.999999Z"`, "1969-12-31 23:59:59.999999Z"},
		{"timestamp", `"0001-01-01T00:00:00Z"`, "0001-01-01 00:00:00Z"},
		{"timestamp", `"9999-12-31T23:59:59.999999Z"`, "9999-12-31 23:59:59.999999Z"},
		{"timestamp", `"2024-05-01T10:40:00.1234567Z"`, `bad: "2024-05-01T10:40:00.1234567Z" is not a timestamp: it has digits behind the microseconds`},
		{"timestamp", `"2024-05-01T10:40:00.1234560000Z"`, `bad: "2024-05-01T10:40:00.1234560000Z" is not a timestamp: its fraction does not have 1 to 9 digits`},
		{"timestamp", `"2016-12-31T23:59:60Z"`, `bad: "2016-12-31T23:59:60Z" is not a timestamp: the time is past 23:59:59`},
		{"timestamp", `"2024-05-01T24:00:00Z"`, `bad: "2024-05-01T24:00:00Z" is not a timestamp: the time is past 23:59:59`},
		{"timestamp", `"0001-01-01T00:00:00+00:01"`, `bad: "0001-01-01T00:00:00+00:01" is not a timestamp: it is outside of the years 0001 to 9999`},
		{"timestamp", `"9999-12-31T23:59:59-00:01"`, `bad: "9999-12-31T23:59:59-00:01" is not a timestamp: it is outside of the years 0001 to 9999`},
		{"timestamp", `"yesterday"`, `bad: "yesterday" is not a timestamp: it is not written as in RFC 3339`},
		{"timestamp", `"2024-05-01T10:40Z"`, `bad: "2024-05-01T10:40Z" is not a timestamp: it is not written as in RFC 3339`},
		{"timestamp", `"2024-05-01T10:40:00+0530"`, `bad: "2024-05-01T10:40:00+0530" is not a timestamp: it is not written as in RFC 3339`},
		{"timestamp", `"2024-05-01"`, `bad: "2024-05-01" is not a timestamp: it is not written as in RFC 3339`},
		{"timestamp", "1714560000", "bad: a number where timestamp (RFC 3339 text; for numbers declare the column long) is expected"},
		{"timestamp_ntz", `"2024-05-01T10:40:00.5"`, "2024-05-01 10:40:00.5Z"},
		{"timestamp_ntz", `"2024-05-01T10:40:00Z"`, `bad: "2024-05-01T10:40:00Z" has a zone, and timestamp_ntz is without`},

		{"array<long>", "[1, 2 ,null]", "[1,2,null]"},
		{"array<long>", "[]", "[]"},
		{"array<array<string>>", `[[],["a"],null]`, `[[],["a"],null]`},
		{"array<long>", `[1,"2"]`, "bad: field v[1]: a string where long is expected"},
		{"array<long>", "{}", "bad: an object where an array is expected"},
		{"array<long>", "[1,]", "bad: byte 8: expected a value, found \"]\""},
		{"struct<a:long,b:string>", `{"b":"x","a":1}`, `{"a":1,"b":"x"}`},
		{"struct<a:long,b:string>", `{"c":{"a":2}}`, `{"a":null,"b":null}`},
		{"struct<a:long not null>", `{}`, "bad: field v.a: missing, and not nullable"},
		{"struct<a:long not null>", `{"a":null}`, "bad: field v.a: null, and not nullable"},
		{"struct<a:long>", `"x"`, "bad: a string where an object is expected"},
		{"map<string,long>", `{"x":1,"y":null}`, `[{"key":"x","value":1},{"key":"y","value":null}]`},
		{"map<string,long>", `{}`, `[]`},
		{"map<string,long>", `{"a":1,"b":2,"a":3}`, `[{"key":"b","value":2},{"key":"a","value":3}]`},
		{"map<string,long>", `{"a":"1"}`, `bad: field v.a: a string where long is expected`},
		{"map<int,string>", `{"1":"a","-2":"b","1.0":"c"}`, `[{"key":-2,"value":"b"},{"key":1,"value":"c"}]`},
		{"map<int,string>", `{"x":"a"}`, `bad: field v.x: key: not a number, as int wants it`},
		{"map<date,boolean>", `{"2024-01-01":true}`, `[{"key":"2024-01-01","value":true}]`},
		{"map<boolean,long>", `{"true":1,"false":2,"true":3}`, `[{"key":false,"value":2},{"key":true,"value":3}]`},
		{"map<string,long>", "[]", "bad: an array where an object is expected"},
	} {
		want := c.want
		if inner, ok := strings.CutPrefix(want, "bad: field v"); ok && inner[0] != ':' {
			want = "bad: field v" + inner
		}
		if got := one(t, c.ddl, c.value); got != want {
			t.Errorf("%s as %s: got  %s\n\twant %s", c.value, c.ddl, got, want)
		}
	}
}

// TestEveryKindOfValueIsStoredOrBadInEveryType crosses types with kinds of values: + is stored, - is bad.
func TestEveryKindOfValueIsStoredOrBadInEveryType(t *testing.T) {
	values := []string{"true", "1", "1.5", `"text"`, `"1"`, `"2024-05-01"`, `"2024-05-01T00:00:00Z"`, `"AAAA"`, "[]", "{}"}
	for ddl, want := range map[string]string{
		"boolean":       "+---------",
		"byte":          "-+--------",
		"short":         "-+--------",
		"int":           "-+--------",
		"long":          "-+--------",
		"float":         "-++-------",
		"double":        "-++-------",
		"decimal(9,1)":  "-++-+-----",
		"string":        "++++++++++",
		"binary":        "---+---+--",
		"date":          "-----++---",
		"timestamp":     "------+---",
		"timestamp_ntz": "----------",
		"array<int>":    "--------+-",
		"map<int,int>":  "---------+",
		"struct<a:int>": "---------+",
	} {
		got := ""
		for _, v := range values {
			if strings.HasPrefix(one(t, ddl, v), "bad: ") {
				got += "-"
			} else {
				got += "+"
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", ddl, got, want)
		}
		rows, bad := decode(t, newDecoder(t, "v "+ddl), block(`{"v":null}`, `{}`))
		if len(bad) > 0 || len(rows) != 2 || rows[0] != "(null)" || rows[1] != "(null)" {
			t.Errorf("%s: null and missing give %q, %v", ddl, rows, bad)
		}
	}
}

// TestRecordsThatTroubledOthers holds the records that other tools drop, alter, or die of.
func TestRecordsThatTroubledOthers(t *testing.T) {
	specs := []string{"n long", "flag boolean", "at timestamp", "o struct<a:long>", "s string"}
	const null = "(null)"
	for _, c := range []struct{ record, want string }{
		{`{"n":1`, "bad: byte 6: expected ',' or '}', found the end of the record"},
		{`hello`, `bad: byte 0: expected a value, found "h"`},
		{`42`, "bad: record: a number where an object is expected"},
		{`[1,2,3]`, "bad: record: an array where an object is expected"},
		{`"hello"`, "bad: record: a string where an object is expected"},
		{`null`, "bad: record: null where an object is expected"},
		{``, "bad: empty value"},
		{" \t", "bad: blank value"},
		{`{"n":1} {}`, `bad: byte 8: "{" behind the end of the value`},
		{"{\"s\":\"\xc3\x28\"}", "bad: byte 6: invalid UTF-8"},
		{"\xEF\xBB\xBF{}", "bad: byte 0: a byte order mark in front of the value"},
		{`{"n":"abc"}`, "bad: field n: a string where long is expected"},
		{`{"n":9223372036854775808}`, "bad: field n: 9223372036854775808 does not fit long"},
		{`{"flag":"yes"}`, "bad: field flag: a string where boolean is expected"},
		{`{"at":"yesterday"}`, `bad: field at: "yesterday" is not a timestamp: it is not written as in RFC 3339`},
		{`{"o":"x"}`, "bad: field o: a string where an object is expected"},
		{`{"n":1.5}`, "bad: field n: 1.5 is not a whole number, as long wants it"},
		{`{"n":"123"}`, "bad: field n: a string where long is expected"},
		{`{"s":5}`, strings.Join([]string{null, null, null, null, "5"}, "|")},
		{`{"s":{"a":1}}`, strings.Join([]string{null, null, null, null, `{"a":1}`}, "|")},
		{`{}`, strings.Join([]string{null, null, null, null, null}, "|")},
		{`{"unknown":{"x":[1]}}`, strings.Join([]string{null, null, null, null, null}, "|")},
		{`{"n":1,"n":2,"o":{"a":1},"o":{}}`, strings.Join([]string{"2", null, null, `{"a":null}`, null}, "|")},
	} {
		d := newDecoder(t, specs...)
		good := `{"n":7,"s":"good"}`
		rows, bad := decode(t, d, block(good, c.record, good))
		got := ""
		switch {
		case len(rows) == 3 && len(bad) == 0:
			got = rows[1]
		case len(rows) == 2 && len(bad) == 1 && bad[0].Position == 2 && string(bad[0].Value) == c.record:
			got = "bad: " + bad[0].Reason
		}
		if got != c.want || rows[0] != rows[len(rows)-1] || rows[0] != "7|(null)|(null)|(null)|good" {
			t.Errorf("%q: got %s\n\twant %s\n\trows %q", c.record, got, c.want, rows)
		}
		if len(bad) > 0 && strings.HasPrefix(bad[0].Reason, "field ") != (bad[0].Column != "") {
			t.Errorf("%q: column %q for %q", c.record, bad[0].Column, bad[0].Reason)
		}
	}
}

func TestTombstonesAreBadOrLeftOut(t *testing.T) {
	for _, option := range []json.Tombstones{json.TombstonesBad, json.TombstonesDropped} {
		d, err := json.New(columns(t, "a long"), json.Options{Tombstones: option})
		if err != nil {
			t.Fatal(err)
		}
		rows, bad := decode(t, d, kafkaBlock(nil, []byte(`{"a":1}`), nil))
		if len(rows) != 1 {
			t.Errorf("rows %q", rows)
		}
		if option == json.TombstonesDropped && (len(bad) != 0 || d.Tombstones() != 2) {
			t.Errorf("dropped: bad %v, counted %d", bad, d.Tombstones())
		}
		if option == json.TombstonesBad && (len(bad) != 2 || bad[0].Reason != "tombstone (null value)" || d.Tombstones() != 0) {
			t.Errorf("bad: %v", bad)
		}
	}
}
