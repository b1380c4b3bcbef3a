package commitlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// StatsColumnsProperty is the table property that names the columns that have statistics, instead of the first so many.
const StatsColumnsProperty = "delta.dataSkippingStatsColumns"

const propStatsLeaves = "delta.dataSkippingNumIndexedCols"

// defaultStatsLeaves is how many columns have statistics without such a property.
const defaultStatsLeaves = 32

// StatsColumns says which columns of a table's files have statistics.
type StatsColumns struct {
	leaves int                 // the first so many; -1 for all
	named  map[string]struct{} // or, when not nil, these and what is inside
	also   []string            // dotted paths
}

// With are these columns and others, by their dotted paths.
func (c StatsColumns) With(paths []string) StatsColumns {
	c.also = paths
	return c
}

// StatsColumnsOf reads the table's properties.
func StatsColumnsOf(properties map[string]string) (StatsColumns, error) {
	c := StatsColumns{leaves: defaultStatsLeaves}
	if s, ok := properties[propStatsLeaves]; ok {
		var err error
		if c.leaves, err = strconv.Atoi(s); err != nil || c.leaves < -1 {
			return c, fmt.Errorf("table property %s is %q; set it to a number of columns, or -1 for all", propStatsLeaves, s)
		}
	}
	if s, ok := properties[StatsColumnsProperty]; ok {
		c.named = make(map[string]struct{})
		for _, name := range ColumnNames(s) {
			c.named[name] = struct{}{}
		}
	}
	return c, nil
}

// Of returns the dotted paths of those of a struct's fields that have statistics, at every depth. Arrays and maps count as one
// column, structs as those inside. Partition columns are not to be among the fields.
func (c StatsColumns) Of(t *schema.Type) map[string]struct{} {
	paths := make(map[string]struct{})
	leaves := 0
	var walk func(prefix string, t *schema.Type, inside bool)
	walk = func(prefix string, t *schema.Type, inside bool) {
		for i := range t.Fields {
			f := &t.Fields[i]
			path := prefix + f.Name
			_, named := c.named[path]
			named = named || inside
			if f.Type.Kind == schema.Struct {
				walk(path+".", f.Type, named)
				continue
			}
			if c.named != nil && named || c.named == nil && (c.leaves < 0 || leaves < c.leaves) || slices.Contains(c.also, path) {
				paths[path] = struct{}{}
			}
			leaves++
		}
	}
	walk("", t, false)
	return paths
}

// ColumnNames splits a property that is a comma-separated list of column names, in which any part of a name may stand in
// backticks.
func ColumnNames(property string) []string {
	var names []string
	var name strings.Builder
	quoted := false
	for _, r := range property {
		switch {
		case r == '`':
			quoted = !quoted
		case r == ',' && !quoted:
			names = append(names, strings.TrimSpace(name.String()))
			name.Reset()
		default:
			name.WriteRune(r)
		}
	}
	if last := strings.TrimSpace(name.String()); last != "" || len(names) > 0 {
		names = append(names, last)
	}
	return names
}
