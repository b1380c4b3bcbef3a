package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTypesAreSpelledForEachEngine(t *testing.T) {
	columns := []column{{"a", "long"}, {"b", "struct<x:string,y:array<int>>"}}
	var got []string
	for _, s := range []spelling{spellingOfDuckDB(), spellingOfClickHouse()} {
		text, err := s.columns(columns)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
		if _, err := s.columns([]column{{"m", "map<string,long>"}}); err == nil {
			t.Errorf("%s spells a map", s.engine)
		}
	}
	want := []string{
		"'a': 'BIGINT', 'b': 'STRUCT(x VARCHAR, y INTEGER[])'",
		"a Nullable(Int64), b Tuple(x Nullable(String), y Array(Nullable(Int32)))",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
