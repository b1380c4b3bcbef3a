package commitlog

import (
	"testing"

	"github.com/sluicedata/sluice/schema"
)

func TestStatisticsCoverTheColumnsAskedFor(t *testing.T) {
	s := schema.StructOf(
		schema.Field{Name: "a", Type: schema.Of(schema.Long), Nullable: true},
		schema.Field{Name: "s", Nullable: true, Type: schema.StructOf(
			schema.Field{Name: "x", Type: schema.Of(schema.Long), Nullable: true},
			schema.Field{Name: "y", Type: schema.ArrayOf(schema.Of(schema.Long)), Nullable: true})},
		schema.Field{Name: "b,c", Type: schema.Of(schema.Long), Nullable: true},
		schema.Field{Name: "d", Type: schema.Of(schema.Long), Nullable: true},
	)
	for name, tc := range map[string]struct {
		properties map[string]string
		want       []string
	}{
		"default":      {nil, []string{"a", "s.x", "s.y", "b,c", "d"}},
		"none":         {map[string]string{propStatsLeaves: "0"}, nil},
		"first two":    {map[string]string{propStatsLeaves: "2"}, []string{"a", "s.x"}},
		"all":          {map[string]string{propStatsLeaves: "-1"}, []string{"a", "s.x", "s.y", "b,c", "d"}},
		"named":        {map[string]string{StatsColumnsProperty: "d, s.x", propStatsLeaves: "0"}, []string{"s.x", "d"}},
		"named struct": {map[string]string{StatsColumnsProperty: "s"}, []string{"s.x", "s.y"}},
		"quoted":       {map[string]string{StatsColumnsProperty: "`b,c`,`s`.`y`"}, []string{"s.y", "b,c"}},
		"named none":   {map[string]string{StatsColumnsProperty: ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			columns, err := StatsColumnsOf(tc.properties)
			if err != nil {
				t.Fatal(err)
			}
			got := columns.Of(s)
			if len(got) != len(tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			for _, path := range tc.want {
				if _, ok := got[path]; !ok {
					t.Errorf("%s is missing in %v", path, got)
				}
			}
		})
	}
}
