package json_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluicedata/sluice/format/json"
)

// TestAppendedRowsDecodeToTheSameRows writes rows of every type as JSON and reads them back.
func TestAppendedRowsDecodeToTheSameRows(t *testing.T) {
	specs := []string{
		"b boolean", "i8 byte", "i16 short", "i32 int", "i64 long", "f float", "d double", "x decimal(38,18)", "s string", "bin binary",
		"day date", "ts timestamp", "ntz timestamp_ntz", "a array<array<double>>", "m map<date,struct<s:string>>", "k map<int,string>", "o struct<a:long,b:array<string>>",
	}
	sameRows(t, specs, []string{
		`{"b":true,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"f":0.1,"d":5e-324,"x":-0.1,"s":"\u0000\u001f\"\\\n😀\u2028","bin":"AP8=",` +
			`"day":"0001-01-01","ts":"0001-01-01T00:00:00.000001Z","ntz":"9999-12-31T23:59:59.999999","a":[[1.5,null],[],null],"m":{"2024-05-01":{"s":"x"}},"k":{"-1":"a","2":null},"o":{"a":1,"b":["",null]}}`,
		`{"b":false,"i64":9223372036854775807,"f":3.4028235e38,"d":-1.7976931348623157e308,"x":"99999999999999999999.999999999999999999","s":"","a":[],"m":{},"o":{}}`,
		`{"d":-0.0,"f":1e-45,"x":"0.000000000000000001"}`,
		`{}`,
	})
}

func TestAppendedDecimalsKeepEveryDigit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for scale := 0; scale <= 38; scale++ {
		var records []string
		for range 50 {
			digits := make([]byte, 38)
			for i := range digits {
				digits[i] = byte('0' + random.IntN(10))
			}
			digits[0] = byte('1' + random.IntN(9))
			records = append(records, fmt.Sprintf(`{"x":%se-%d}`, digits, scale))
		}
		sameRows(t, []string{fmt.Sprintf("x decimal(38,%d)", scale)}, records)
	}
}

func sameRows(t *testing.T, specs, records []string) {
	t.Helper()
	d := newDecoder(t, specs...)
	if err := d.Decode(block(records...), refuse(t)); err != nil {
		t.Fatal(err)
	}
	first := d.Flush()
	defer first.Release()
	var again []string
	for i := range int(first.NumRows()) {
		again = append(again, string(json.AppendRow(nil, first, i)))
	}
	if err := d.Decode(block(again...), refuse(t)); err != nil {
		t.Fatal(err)
	}
	second := d.Flush()
	defer second.Release()
	for c := range specs {
		for i := range int(first.NumRows()) {
			a, b := first.Column(c), second.Column(c)
			if a.IsNull(i) != b.IsNull(i) || !a.IsNull(i) && valueAt(a, i) != valueAt(b, i) {
				t.Errorf("%s: %s became %s, by %s", specs[c], a.ValueStr(i), b.ValueStr(i), again[i])
			}
		}
	}
}
