package json_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format/json"
)

// guessed are the columns of the tests below, and trained the records that a decoder expects others to be like.
var (
	guessed = []string{"id bigint", "naïve string", "o struct<a:int,b:array<struct<x:double,y:timestamp>>>", "long_name_of_a_column boolean", "o2 string from o.c", "raw string from $"}
	trained = []string{
		`{"id":12,"naïve":"é","o":{"a":1,"b":[{"x":0.5,"y":"2024-05-01T10:40:00.125Z"},{"y":null}],"c":"t"},"long_name_of_a_column":true}`,
		`{"id": 12, "o": {"b": []}, "unknown": [1,{"k":2}], "long_name_of_a_column": false}`,
	}
)

// sameAsUntrained decodes a record with a decoder that expects records like the trained ones, and with one that expects nothing.
func sameAsUntrained(t *testing.T, d *json.Decoder, record string) {
	t.Helper()
	rows, bad := decode(t, d, block(record))
	wantRows, wantBad := decode(t, newDecoder(t, guessed...), block(record))
	if !slices.Equal(rows, wantRows) || cmp.Diff(bad, wantBad) != "" {
		t.Fatalf("%q gives %q %v to a trained decoder, %q %v to another one", record, rows, bad, wantRows, wantBad)
	}
}

func trainedDecoder(t *testing.T) *json.Decoder {
	t.Helper()
	d := newDecoder(t, guessed...)
	if rows, bad := decode(t, d, block(trained...)); len(rows) != len(trained) {
		t.Fatal(bad)
	}
	return d
}

// FuzzLearned fuzzes records like those that a decoder has learned to expect.
func FuzzLearned(f *testing.F) {
	for _, r := range trained {
		f.Add(r)
		f.Add(strings.Replace(r, `"id"`, `"i\u0064"`, 1))
		f.Add(strings.ReplaceAll(r, `:`, ` :`))
		f.Add(strings.ReplaceAll(r, `,`, `,,`))
	}
	f.Fuzz(func(t *testing.T, record string) {
		d := trainedDecoder(t)
		sameAsUntrained(t, d, record)
		sameAsUntrained(t, d, record)
		sameAsUntrained(t, d, trained[0])
	})
}

// TestEveryChangedByteIsReadAsWithoutExpectations changes every byte of the expected records to others that mean something, and
// asks encoding/json whether that is JSON.
func TestEveryChangedByteIsReadAsWithoutExpectations(t *testing.T) {
	d := trainedDecoder(t)
	for _, r := range trained {
		for i := range len(r) {
			for _, c := range []byte("\"\\{}],:0-.e \n\x80" + string(r[i]^1) + string(r[i]^0x20)) {
				record := []byte(r)
				record[i] = c
				sameAsUntrained(t, d, string(record))
				if rows, bad := decode(t, d, block(string(record))); len(rows) > 0 && !wellFormed(record) {
					t.Fatalf("%q is taken", record)
				} else if wellFormed(record) && len(bad) > 0 && strings.HasPrefix(bad[0].Reason, "byte ") {
					t.Fatalf("%q is JSON: %s", record, bad[0].Reason)
				}
			}
		}
	}
}

// TestSpaceInFrontOfValuesNeedNotBeExpected puts space where there was none, in front of values of all types.
func TestSpaceInFrontOfValuesNeedNotBeExpected(t *testing.T) {
	specs := []string{"l bigint", "d double", "n decimal(5,2)", "b boolean", "s string", "x binary", "day date", "at timestamp", "a array<int>", "o struct<i:int>", "m map<string,int>", "i int from p.q", "e string from r[0]"}
	const record = `{"l":1,"d":1.5,"n":2.25,"b":true,"s":"s","x":"eA==","day":"2024-05-01","at":"2024-05-01T10:40:00Z","a":[1],"o":{"i":3},"m":{"k":4},"p":{"q":5},"r":["f"],"unknown":6}`
	d := newDecoder(t, specs...)
	spaced := strings.ReplaceAll(record, ":", ": \t\r\n ")
	spaced = strings.ReplaceAll(spaced, "10: \t\r\n 40: \t\r\n 00", "10:40:00")
	text := "\"s\": \t\r\n "
	rows, bad := decode(t, d, block(record, spaced, strings.Replace(spaced, text+`"s"`, text+"null", 1), strings.Replace(spaced, text+`"s"`, text+"x", 1)))
	if len(rows) != 3 || rows[1] != rows[0] || rows[2] != strings.Replace(rows[0], "|s|", "|(null)|", 1) {
		t.Errorf("rows %q", rows)
	}
	if len(bad) != 1 || !strings.Contains(bad[0].Reason, "expected a value") {
		t.Errorf("bad records: %v", bad)
	}
}

// TestExpectedNamesOfEveryLengthAreReadToTheirEnd changes every byte of a record with names of many lengths.
func TestExpectedNamesOfEveryLengthAreReadToTheirEnd(t *testing.T) {
	var specs, fields []string
	for n := 1; n <= 24; n++ {
		name := strings.Repeat("n", n)
		specs, fields = append(specs, name+" int"), append(fields, `"`+name+`":1`)
	}
	record := "{" + strings.Join(fields, ",") + "}"
	trained := newDecoder(t, specs...)
	for i := range len(record) {
		changed := []byte(record)
		changed[i] ^= 1
		decode(t, trained, block(record))
		rows, bad := decode(t, trained, block(string(changed)))
		wantRows, wantBad := decode(t, newDecoder(t, specs...), block(string(changed)))
		if !slices.Equal(rows, wantRows) || cmp.Diff(bad, wantBad) != "" {
			t.Fatalf("%q gives %q %v to a trained decoder, %q %v to another one", changed, rows, bad, wantRows, wantBad)
		}
	}
}

// TestFieldsBehindUnrememberedOnesAreThoseOfTheirObject has an unknown name, too long to be remembered, in objects of two kinds.
func TestFieldsBehindUnrememberedOnesAreThoseOfTheirObject(t *testing.T) {
	long := `"` + strings.Repeat("n", 300) + `":0`
	rows, bad := decode(t, newDecoder(t, "a bigint", "o struct<a:string>"), block(
		`{`+long+`,"a":5,"o":{`+long+`,"a":"x"}}`,
		`{`+long+`,"a":6,"o":{`+long+`,"a":"y"}}`,
	))
	if diff := cmp.Diff([]string{`5|{"a":"x"}`, `6|{"a":"y"}`}, rows); diff != "" || len(bad) > 0 {
		t.Error(diff, bad)
	}
}

// TestExpectationsOutliveNoBadName has a bad record with a name that is not UTF-8, and others with the same name.
func TestExpectationsOutliveNoBadName(t *testing.T) {
	d := newDecoder(t, "a bigint")
	record := []byte("{\"\xff\":1,\"a\":2}")
	for range 3 {
		if rows, bad := decode(t, d, block(string(record))); len(rows) > 0 || bad[0].Reason != "byte 2: invalid UTF-8" {
			t.Fatal(rows, bad)
		}
	}
	if rows, _ := decode(t, d, block(string(bytes.ReplaceAll(record, []byte("\xff"), []byte("b"))))); len(rows) != 1 {
		t.Error("a good record behind bad ones is not taken")
	}
}
