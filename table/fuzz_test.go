package table

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicedata/sluice/schema"
)

// FuzzFileStats holds that statistics by other hands are read or left out, and that bounds come only from columns there are.
func FuzzFileStats(f *testing.F) {
	f.Add(`{"numRecords":3,"minValues":{"a":1,"s":{"x":"2024-01-01T00:00:00.000Z"},"d":1.5},"maxValues":{"a":9223372036854775808},"nullCount":{"a":0,"s":{"x":1}}}`)
	f.Add(`{"numRecords":"3"}`)
	f.Add(`{"numRecords":1,"minValues":{"d":1e999999999},"maxValues":null}`)
	f.Add(`[`)
	s := parseSchema(f, "a:long,s:struct<x:timestamp,y:string>,d:decimal(10,2),f:double,day:date")
	f.Fuzz(func(t *testing.T, text string) {
		stats := parseStats(s, text)
		if stats == nil {
			return
		}
		for _, bounds := range []map[string]Value{stats.Min, stats.Max} {
			for column, v := range bounds {
				if err := (&Predicate{Column: strings.Split(column, "."), Op: Equal, Values: []Value{v}}).check(s); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	})
}

// FuzzStringBounds holds that bounds are bounds, and short.
func FuzzStringBounds(f *testing.F) {
	for _, s := range nastyStrings {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		low, ok1 := minPrefix([]byte(s), 4)
		high, ok2 := maxPrefix([]byte(s), 4)
		if ok1 != utf8.ValidString(s) || ok2 && !ok1 {
			t.Fatalf("%q: %v %v", s, ok1, ok2)
		}
		if ok1 && (low > s || utf8.RuneCountInString(low) > 4) || ok2 && (high < s || utf8.RuneCountInString(high) > 9) {
			t.Fatalf("%q is not within %q and %q", s, low, high)
		}
	})
}

// FuzzPartitionValue holds that values by other hands are read or refused, and that what is read can be told again.
func FuzzPartitionValue(f *testing.F) {
	for i, s := range []string{"1.20", "2024-02-29", "2024-01-02 03:04:05.6", "-0001-12-31", "1E5", "true", "é"} {
		f.Add(uint8(i), s)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		typ := schema.Of(leafKinds[int(kind)%len(leafKinds)])
		if typ.Kind == schema.Decimal {
			typ = schema.DecimalOf(38, 5)
		}
		v, err := parsePartition(typ, &text)
		if err != nil || v == nil || typ.Kind == schema.Binary {
			return
		}
		if !literalFits(typ, v) {
			t.Fatalf("%q became %v (%T) for %s", text, v, v, typ)
		}
	})
}
