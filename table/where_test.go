package table

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func whereSnapshot(t testing.TB) *Snapshot {
	return &Snapshot{schema: parseSchema(t, "a:long,b:string,`or`:string,`x.y`:int,s:struct<x:timestamp,f:float,`u v`:date>,d:decimal(10,2),bin:binary,bool:boolean,day:date,n:timestamp_ntz,l:array<int>")}
}

// shape is a predicate in prefix form.
func shape(p *Predicate) string {
	b, _ := json.Marshal(p.Values)
	switch p.Op {
	case And, Or, Not:
		var parts []string
		for _, o := range p.Of {
			parts = append(parts, shape(o))
		}
		return string(p.Op) + "(" + strings.Join(parts, " ") + ")"
	case IsNull:
		return strings.Join(p.Column, "/") + " null"
	}
	return strings.Join(p.Column, "/") + string(p.Op) + strings.Trim(string(b), "[]")
}

func TestWhere(t *testing.T) {
	s := whereSnapshot(t)
	for text, want := range map[string]string{
		"a=1":                                   "a=1",
		"a >= -5 and a<7":                       "and(a>=-5 a<7)",
		"a = 1 or a = 2 and b = 'x'":            "or(a=1 and(a=2 b=\"x\"))",
		"(a = 1 OR a = 2) AND NOT b <> 'it''s'": "and(or(a=1 a=2) not(not(b=\"it's\")))",
		"not not a is not null":                 "not(not(not(a null)))",
		"a in (1,2 , null)":                     "a" + "in" + "1,2,null",
		"b NOT IN ('x')":                        "not(bin\"x\")",
		"`or` = null":                           "or=null",
		"b = 'null'":                            "b=\"null\"",
		"b = NL":                                "b=\"NL\"",
		"`x.y` != 3":                            "not(x.y=3)",
		"s.`u v` < date '2024-01-02'":           "s/u v<19724",
		"s.x > '2024-01-02T03:04:05.000006+01:00'": "s/x>1704161045000006",
		"s.x > TIMESTAMP '2024-01-02'":             "s/x>1704153600000000",
		"n <= '2024-01-02 03:04:05'":               "n<=1704164645000000",
		"s.f < 1e3":                                "s/f<1000",
		"bin = X'6162'":                            "bin=\"ab\"",
		"bool = TRUE":                              "bool=true",
		"s is null":                                "s null",
		"l is null":                                "l null",
		"day = 2024-01-02":                         "day=19724",
	} {
		got, err := s.Where(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, shape(got)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"":                                  `"" where a column should be`,
		"a":                                 `"" is no operator`,
		"a = ":                              `"" where a literal should be`,
		"a == 1":                            `"=" where a literal should be`,
		"a = 1 b = 2":                       `"b" where AND, OR or the end should be`,
		"(a = 1":                            `"" where ) should be`,
		"a = 1)":                            `")" where AND, OR or the end should be`,
		"a in 1":                            `"1" where ( should be`,
		"a in (1 2)":                        `"2" where , or ) should be`,
		"a in ()":                           `")" where a literal should be`,
		"a is 1":                            `"1" where NULL should be`,
		"a not 1":                           `"1" where IN should be`,
		"a like 'x'":                        `"like" is no operator`,
		"a = 1.5":                           "1.5 is no long",
		"a = 9223372036854775808":           "is no long",
		"b = 'x":                            `"'x" where a literal should be`,
		"b = a":                             "a is a column, and columns are compared with literals only",
		"d = 1.005":                         "1.005 is no decimal(10,2)",
		"day = '2024-01-02 10:00:00'":       "it has a time of day",
		"day = timestamp '2024-01-02'":      "it is of type date, and the literal a timestamp",
		"s.x = '2024-01-02 0:0:0'":          "is no timestamp",
		"n > '2024-01-02 03:04:05.1234567'": "more than six digits",
		"bin = 'ab'":                        "binary is written X'1f'",
		"b = X'61'":                         "binary is written X'1f'",
		"bin = X'6'":                        "odd length",
		"nothing = 1":                       "the table has no such column",
		"s.nothing = 1":                     "the table has no such column",
		"s = 1":                             "values of type struct",
		"l = 1":                             "values of type array<int> have no order",
		"`a = 1":                            "has no quote at its end",
		"a. = 1":                            "where a column should be",
		"x y":                               `"y" is no operator`,
		strings.Repeat("(", 5000):           "more than 100 conditions in one another",
		strings.Repeat("not ", 5000):        "more than 100 conditions in one another",
	} {
		got, err := s.Where(text)
		if err == nil {
			t.Errorf("%q is %s", text, shape(got))
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzWhere holds that a condition is refused, or one that fits the table.
func FuzzWhere(f *testing.F) {
	for _, text := range []string{"a = 1 and (b in ('x', 'y') or not s.f < 1.5)", "`x.y` <> 3", "bin = X'00'", "day is not null", "a='", "s.`"} {
		f.Add(text)
	}
	s := whereSnapshot(f)
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := s.Where(text); err == nil && p.check(s.schema) != nil {
			t.Errorf("%q is %s", text, shape(p))
		}
	})
}
