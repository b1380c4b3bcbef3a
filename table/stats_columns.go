package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// Table properties that say which columns have statistics, and how long strings are in them.
const (
	statsLeavesProperty  = "delta.dataSkippingNumIndexedCols"
	statsColumnsProperty = "delta.dataSkippingStatsColumns"
	statsPrefixProperty  = "delta.dataSkippingStringPrefixLength"
)

// statsChoice says which columns of a file have statistics.
type statsChoice struct {
	leaves int                 // the first so many; -1 for all
	named  map[string]struct{} // or, when not nil, these and what is inside
	prefix int                 // UTF-16 units of a string
}

// statsChoiceOf reads the table's properties.
func statsChoiceOf(properties map[string]string) (statsChoice, error) {
	choice := statsChoice{leaves: 32, prefix: 32}
	var err error
	if s, ok := properties[statsLeavesProperty]; ok {
		if choice.leaves, err = strconv.Atoi(s); err != nil || choice.leaves < -1 {
			return choice, fmt.Errorf("table property %s is %q; set it to a number of columns, or -1 for all", statsLeavesProperty, s)
		}
	}
	if s, ok := properties[statsPrefixProperty]; ok {
		if choice.prefix, err = strconv.Atoi(s); err != nil || choice.prefix < 1 {
			return choice, fmt.Errorf("table property %s is %q; set it to a number of characters", statsPrefixProperty, s)
		}
	}
	if s, ok := properties[statsColumnsProperty]; ok {
		choice.named = make(map[string]struct{})
		for _, name := range splitNames(s) {
			choice.named[name] = struct{}{}
		}
	}
	return choice, nil
}

// splitNames splits a comma-separated list of column names, in which any part of a name may stand in backticks.
func splitNames(s string) []string {
	var names []string
	var name strings.Builder
	quoted := false
	for _, r := range s {
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

// chosen returns the paths that have statistics. Arrays and maps count as one column, structs as those inside.
func (choice statsChoice) chosen(columns []*column) map[string]struct{} {
	paths := make(map[string]struct{})
	var walk func(columns []*column, inside bool)
	walk = func(columns []*column, inside bool) {
		for _, c := range columns {
			_, named := choice.named[c.path]
			named = named || inside
			if c.typ.Kind == schema.Struct {
				walk(c.children, named)
				continue
			}
			if choice.named != nil && named || choice.named == nil && (choice.leaves < 0 || len(paths) < choice.leaves) {
				paths[c.path] = struct{}{}
			}
		}
	}
	walk(columns, false)
	return paths
}
