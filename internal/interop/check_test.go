package interop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompareNamesEachDifference(t *testing.T) {
	v := func(n int64) *int64 { return &n }
	same := Content{Rows: 1, Schema: []string{"a:long", "b:string"}, Hash: "00"}
	for name, tc := range map[string]struct {
		got  Answer
		job  Job
		want []string
	}{
		"equal":            {Answer{Version: v(1), Rows: 1, Schema: same.Schema, Hash: "00"}, Job{Version: v(1)}, nil},
		"version not told": {Answer{Rows: 1, Schema: same.Schema, Hash: "00"}, Job{Version: v(1)}, nil},
		"refused":          {Answer{Error: "no"}, Job{Version: v(1)}, []string{"refused: no"}},
		"other version": {
			Answer{Version: v(2), Rows: 1, Schema: same.Schema, Hash: "00"},
			Job{Version: v(1)},
			[]string{"it took version 2"},
		},
		"rows and hash": {
			Answer{Rows: 2, Schema: same.Schema, Hash: "01"},
			Job{Version: v(1)},
			[]string{"2 rows, want 1", "other rows: hash 01, want 00"},
		},
		"order of columns": {
			Answer{Rows: 1, Schema: []string{"b:string", "a:long"}, Hash: "00"},
			Job{Version: v(1)},
			[]string{"columns [b:string a:long], want [a:long b:string]"},
		},
		"order of columns asked for": {
			Answer{Rows: 1, Schema: []string{"b:string", "a:long"}, Hash: "00"},
			Job{Version: v(1), Columns: []string{"b", "a"}},
			nil,
		},
	} {
		if diff := cmp.Diff(tc.want, compare(tc.got, tc.job, same)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
