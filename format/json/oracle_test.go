package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
)

// wellFormed says, by other means, whether a record is JSON within the bounds of this package.
func wellFormed(record []byte) bool {
	return stdjson.Valid(record) && utf8.Valid(record) && depthOf(record) <= json.MaxDepth
}

func depthOf(record []byte) int {
	depth, deepest := 0, 0
	tokens := stdjson.NewDecoder(bytes.NewReader(record))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case stdjson.Delim('{'), stdjson.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case stdjson.Delim('}'), stdjson.Delim(']'):
			depth--
		}
	}
}

// unpaired says whether a string's JSON text has a lone surrogate.
func unpaired(raw string) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		r := escaped(raw[i:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if !strings.HasPrefix(raw[i+1:], `\u`) || utf16.DecodeRune(r, escaped(raw[i+2:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

func escaped(u string) rune {
	r, err := strconv.ParseUint(u[1:5], 16, 32)
	if err != nil {
		return 0
	}
	return rune(r)
}

// TestMinefield runs the cases of JSONTestSuite as whole records: y_ is accepted, n_ rejected, and i_ as docs/json.md says.
func TestMinefield(t *testing.T) {
	dir := filepath.Join(sharedRoot(), "data", "json-minefield")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no json-minefield: set SLUICE_SHARED to the folder of the shared fixtures")
	}
	implementation := documentedCases(t)
	for _, file := range files {
		record, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, typ := range []string{"v string from $", "v array<string> from $"} {
			accepted := accepts(t, typ, record)
			switch {
			case name[0] == 'y' && !accepted && typ == "v string from $",
				name[0] == 'n' && accepted:
				t.Errorf("%s as %q: accepted %v", name, typ, accepted)
			case name[0] == 'i':
				want, ok := implementation[name]
				if !ok {
					t.Errorf("%s is not in docs/json.md", name)
				}
				if typ == "v string from $" && accepted != want.text || typ != "v string from $" && accepted != want.values {
					t.Errorf("%s as %q: accepted %v, docs/json.md says %+v", name, typ, accepted, want)
				}
			}
		}
		delete(implementation, name)
	}
	for name := range implementation {
		t.Errorf("docs/json.md has %s, which is no case", name)
	}
}

func accepts(t *testing.T, spec string, record []byte) bool {
	rows, bad := decode(t, newDecoder(t, spec), block(string(record)))
	if len(rows)+len(bad) != 1 {
		t.Fatalf("%d rows and %d bad of one record", len(rows), len(bad))
	}
	return len(rows) == 1
}

type documented struct{ text, values bool }

// documentedCases reads the table of the i_ cases in docs/json.md: name, accepted as text, accepted as strings.
func documentedCases(t *testing.T) map[string]documented {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]documented{}
	for _, line := range strings.Split(string(doc), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], " `i_") {
			continue
		}
		cases[strings.Trim(cells[1], " `")] = documented{strings.TrimSpace(cells[2]) == "accepted", strings.TrimSpace(cells[3]) == "accepted"}
	}
	return cases
}

// TestEveryTruncationOfARecordIsBadAndLeavesNoTrace cuts a real record at every byte.
func TestEveryTruncationOfARecordIsBadAndLeavesNoTrace(t *testing.T) {
	record, _, _ := bytes.Cut(shared(t, "data/events-1000.ndjson"), []byte("\n"))
	d, err := json.New(append(eventColumns(t), columns(t, "raw string from $", "os string from device.os", "tag string from tags[1]")...), json.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := decode(t, d, block(string(record), string(record)))
	records := []string{string(record)}
	for i := range record {
		records = append(records, string(record[:i]))
	}
	rows, bad := decode(t, d, block(append(records, string(record))...))
	if len(bad) != len(record) || len(rows) != 2 || rows[0] != whole[0] || rows[1] != whole[0] {
		t.Errorf("%d of %d truncations are bad, rows %q, want %q twice", len(bad), len(record), rows, whole[0])
	}
}

// expect returns a column's value as compare wants it, by other means: bad when it does not fit.
type expect func(raw string) (value any, bad bool)

func expectString(raw string) (any, bool) {
	if raw[0] != '"' {
		return raw, false
	}
	var s string
	if err := stdjson.Unmarshal([]byte(raw), &s); err != nil || unpaired(raw) {
		return nil, true
	}
	return s, false
}

func expectLong(raw string) (any, bool) {
	r, ok := ratio(raw)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return nil, true
	}
	return r.Num().Int64(), false
}

func expectDouble(raw string) (any, bool) {
	if !isNumberText(raw) {
		return nil, true
	}
	v, err := strconv.ParseFloat(raw, 64)
	return v, err != nil
}

func expectFloat(raw string) (any, bool) {
	if !isNumberText(raw) {
		return nil, true
	}
	v, err := strconv.ParseFloat(raw, 32)
	return float32(v), err != nil
}

func expectDecimal(raw string) (any, bool) {
	if raw[0] == '"' {
		var s string
		if err := stdjson.Unmarshal([]byte(raw), &s); err != nil || !isNumberText(s) || !stdjson.Valid([]byte(s)) || strings.TrimSpace(s) != s {
			return nil, true
		}
		raw = s
	}
	r, ok := ratio(raw)
	if !ok {
		return nil, true
	}
	r.Mul(r, big.NewRat(1_000_000_000, 1))
	if !r.IsInt() || len(new(big.Int).Abs(r.Num()).String()) > 38 {
		return nil, true
	}
	return r.Num().String(), false
}

func expectBoolean(raw string) (any, bool) {
	return raw == "true", raw != "true" && raw != "false"
}

func isNumberText(raw string) bool {
	return raw != "" && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

func ratio(raw string) (*big.Rat, bool) {
	if !isNumberText(raw) {
		return nil, false
	}
	return new(big.Rat).SetString(raw)
}

// valueAt returns a value of a column as the expectations have it.
func valueAt(c arrow.Array, i int) any {
	switch c := c.(type) {
	case *array.String:
		return c.Value(i)
	case *array.Int64:
		return c.Value(i)
	case *array.Float64:
		return c.Value(i)
	case *array.Float32:
		return c.Value(i)
	case *array.Boolean:
		return c.Value(i)
	case *array.Decimal128:
		return c.Value(i).BigInt().String()
	default:
		return c.ValueStr(i)
	}
}

var oracle = []struct {
	spec   string
	expect expect
}{
	{"s string", expectString},
	{"n long", expectLong},
	{"d double", expectDouble},
	{"f float", expectFloat},
	{"x decimal(38,9)", expectDecimal},
	{"b boolean", expectBoolean},
}

// bigExponent says whether a number's exponent is beyond what an oracle with exact fractions can take.
func bigExponent(record []byte) bool {
	digits := 0
	for i, c := range record {
		switch {
		case c|0x20 == 'e' || digits > 0 && c >= '0' && c <= '9':
			digits++
		case i > 0 && record[i-1]|0x20 == 'e' && (c == '+' || c == '-'):
		default:
			digits = 0
		}
		if digits > 4 {
			return true
		}
	}
	return false
}

// FuzzDecode holds the decoder against encoding/json: the same records are JSON, and values are equal or bad alike.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"s":"a\u00e9\ud83d\ude00","n":9007199254740993,"d":0.1,"x":"12.5","b":true}`, `{"s":{"a":[1,2]},"n":1e3}`, `[1,2]`, `null`,
		`{"n":-9223372036854775808,"f":1.00000005960464477540}`, `{"s":"\ud800"}`, `{"d":1e400}`, "{\"s\":\"\xff\"}", `{"x":0.1234567891}`,
		`{"v":{"k":[{"m":{"1":"2024-05-01","1":null}}],"k":[]},"o":{"b":[true],"b":[null,false],"d":"x"}}`, `{"n":[{"s":"2024-05-01 00:00:00"}],"s":"AA=="}`,
		`{"b":tru}`, `{"a":{"b":[{"c":null}]}} x`, "\xEF\xBB\xBF{}", `{"d":-0.0,"x":1e28,"n":0e0}`, `{"f":3.4028236e38}`, `{"d":123456789012345678}`,
	} {
		f.Add([]byte(seed))
	}
	var specs []string
	for _, o := range oracle {
		specs = append(specs, o.spec)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		if accepted := accepts(t, "v string from $", record); accepted != wellFormed(record) {
			t.Fatalf("%q: accepted %v", record, accepted)
		}
		leavesNoTrace(t, record)
		var fields map[string]stdjson.RawMessage
		if !wellFormed(record) || stdjson.Unmarshal(record, &fields) != nil || fields == nil || bigExponent(record) {
			return
		}
		if bytes.Contains(record, []byte(`\u`)) && unpaired(string(record)) || hasDuplicates(record) {
			return // a name that can't be decoded; a dropped value that has to fit
		}
		compare(t, specs, record, fields)
	})
}

// leavesNoTrace decodes a record between two good ones, into columns of every nested kind.
func leavesNoTrace(t *testing.T, record []byte) {
	t.Helper()
	const good = `{"v":{"k":[{"s":"x","m":{"1":"2024-05-01"}},null]},"s":"AAAA","n":[{"s":"2024-05-01T00:00:00Z"}],"o":{"b":[true,false]}}`
	d := newDecoder(t, "v map<string,array<struct<s:string,m:map<int,date>>>>", "a timestamp from n[0].s", "s binary", "o struct<b:array<boolean>,d:decimal(20,2)>")
	want, _ := decode(t, d, block(good))
	rows, bad := decode(t, d, block(good, string(record), string(record), good))
	if len(rows)+len(bad) != 4 || len(rows) < 2 || rows[0] != want[0] || rows[len(rows)-1] != want[0] || len(rows) == 4 && rows[1] != rows[2] {
		t.Fatalf("%q between %q gives %q, %v", record, want, rows, bad)
	}
}

func hasDuplicates(record []byte) bool {
	tokens := stdjson.NewDecoder(bytes.NewReader(record))
	seen, depth := map[string]bool{}, 0
	for name := false; ; {
		token, err := tokens.Token()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case stdjson.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
			name = depth == 1
			continue
		case string:
			if depth == 1 && name {
				if seen[token] {
					return true
				}
				seen[token] = true
			}
		}
		if depth == 1 {
			name = !name
		}
	}
}

func compare(t *testing.T, specs []string, record []byte, fields map[string]stdjson.RawMessage) {
	t.Helper()
	want, wantBad := make([]any, len(oracle)), false
	for i, o := range oracle {
		name, _, _ := strings.Cut(o.spec, " ")
		raw, ok := fields[name]
		if !ok || string(raw) == "null" {
			continue
		}
		v, bad := o.expect(string(raw))
		want[i], wantBad = v, wantBad || bad
	}
	d := newDecoder(t, specs...)
	var reasons []string
	err := d.Decode(block(string(record)), func(b format.Bad) error {
		reasons = append(reasons, b.Reason)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := d.Flush()
	defer r.Release()
	if wantBad != (len(reasons) > 0) {
		t.Fatalf("%q: bad by the oracle: %v, reasons: %q", record, wantBad, reasons)
	}
	for i, c := range r.Columns() {
		if wantBad {
			break
		}
		if c.IsNull(0) != (want[i] == nil) || !c.IsNull(0) && valueAt(c, 0) != want[i] {
			t.Errorf("%q: %s is %v, want %v", record, oracle[i].spec, c.ValueStr(0), want[i])
		}
	}
}
