package json_test

import (
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/format/json"
)

// textRecords are records of the texts, in a field, a struct, a list and a map.
func textRecords(t *testing.T, texts []string) []string {
	t.Helper()
	records := make([]string, len(texts))
	for i, text := range texts {
		value, err := stdjson.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		records[i] = fmt.Sprintf(`{"s":%[1]s,"o":{"s":%[1]s},"l":[%[1]s,null,%[1]s],"m":{"k":%[1]s}}`, value)
	}
	return records
}

func textDecoder(t *testing.T) *json.Decoder {
	t.Helper()
	return newDecoder(t, "s string", "o struct<s:string>", "l array<string>", "m map<string,string>")
}

// checkTexts decodes records of the texts, and says whether their columns are dictionaries.
func checkTexts(t *testing.T, d *json.Decoder, texts []string) (coded bool) {
	t.Helper()
	if err := d.Decode(block(textRecords(t, texts)...), refuse(t)); err != nil {
		t.Fatal(err)
	}
	r := d.Flush()
	defer r.Release()
	list := r.Column(2).(*array.List)
	places := map[string]arrow.Array{
		"field": r.Column(0), "struct": r.Column(1).(*array.Struct).Field(0), "list": list.ListValues(), "map": r.Column(3).(*array.Map).Items(),
	}
	for place, values := range places {
		want := texts
		if place == "list" {
			want = nil
			for _, text := range texts {
				want = append(want, text, array.NullValueStr, text)
			}
		}
		got := make([]string, values.Len())
		for i := range got {
			got[i] = values.ValueStr(i)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %q, want %q", place, got, want)
		}
		if err := arrayFits(values); err != nil {
			t.Fatalf("%s: %v", place, err)
		}
	}
	_, coded = r.Column(0).(*array.Dictionary)
	return coded
}

// arrayFits checks what package table asks of a dictionary.
func arrayFits(values arrow.Array) error {
	d, ok := values.(*array.Dictionary)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for i := range d.Dictionary().Len() {
		text := d.Dictionary().(*array.String).Value(i)
		if seen[text] {
			return fmt.Errorf("%q is in the dictionary twice", text)
		}
		seen[text] = true
	}
	for i := range d.Len() {
		if index := d.GetValueIndex(i); d.IsNull(i) && index != 0 || d.IsValid(i) && index >= d.Dictionary().Len() {
			return fmt.Errorf("row %d has index %d of %d", i, index, d.Dictionary().Len())
		}
	}
	return nil
}

// someTexts are n different ones, of many lengths and kinds.
func someTexts(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = []string{"", "é", "\n\"", strings.Repeat("long ", i%40), "0123456789abcde"}[i%5] + strings.Repeat("x", i%20) + fmt.Sprint(i)
	}
	return texts
}

func TestFewTextsAreInADictionaryAndManyAreNot(t *testing.T) {
	for _, c := range []struct {
		name         string
		texts        []string
		coded, after bool
	}{
		{"one", []string{"a"}, true, true},
		{"empty and zero", []string{"", "\x00", "a", "a\x00", "", "a\x00", "\x00\x00"}, true, true},
		{"few, often", slices.Repeat(someTexts(100), 5), true, true},
		{"more than half of a dictionary, which begins anew", slices.Repeat(someTexts(200), 5), true, true},
		{"few, all different", someTexts(16), true, true},
		{"all different", someTexts(100), true, false},
		{"too many", slices.Repeat(someTexts(300), 5), false, false},
		{"too long", []string{"a", strings.Repeat("x", 256), "a"}, false, false},
		{"as long as may be", []string{"a", strings.Repeat("x", 255), "a", strings.Repeat("x", 254) + "y"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := textDecoder(t)
			if coded := checkTexts(t, d, c.texts); coded != c.coded {
				t.Errorf("in a dictionary: %t", coded)
			}
			if coded := checkTexts(t, d, []string{"b", "a", "b"}); coded != c.after {
				t.Errorf("in a dictionary behind a flush: %t", coded)
			}
			checkTexts(t, d, c.texts)
		})
	}
}

// TestRecordKeepsItsTextsWhileTheDictionaryGrows holds a record while others are made.
func TestRecordKeepsItsTextsWhileTheDictionaryGrows(t *testing.T) {
	d := newDecoder(t, "s string")
	texts := someTexts(250)
	var records []arrow.Record
	for i := range 25 {
		values := slices.Repeat(texts[i*10:i*10+10], 3)
		for _, text := range values {
			quoted, err := stdjson.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(block(`{"s":`+string(quoted)+`}`, `{"s":"bad `+fmt.Sprint(i)+`"} x`, `{"s":null}`), ignore); err != nil {
				t.Fatal(err)
			}
		}
		records = append(records, d.Flush())
	}
	for i, r := range records {
		for k, text := range slices.Repeat(texts[i*10:i*10+10], 3) {
			if got := r.Column(0).ValueStr(2 * k); got != text || r.Column(0).IsValid(2*k+1) {
				t.Fatalf("record %d, row %d: %q, want %q", i, 2*k, got, text)
			}
		}
		r.Release()
	}
}
