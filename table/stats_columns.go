package table

import (
	"fmt"
	"strconv"

	"github.com/sluicedata/sluice/commitlog"
)

// statsPrefixProperty is the table property that says how long strings are in statistics.
const statsPrefixProperty = "delta.dataSkippingStringPrefixLength"

// statsChoice says which columns of a file have statistics.
type statsChoice struct {
	commitlog.StatsColumns
	prefix int // UTF-16 units of a string
}

// statsChoiceOf reads the table's properties.
func statsChoiceOf(properties map[string]string) (statsChoice, error) {
	choice := statsChoice{prefix: 32}
	var err error
	if choice.StatsColumns, err = commitlog.StatsColumnsOf(properties); err != nil {
		return choice, err
	}
	if s, ok := properties[statsPrefixProperty]; ok {
		if choice.prefix, err = strconv.Atoi(s); err != nil || choice.prefix < 1 {
			return choice, fmt.Errorf("table property %s is %q; set it to a number of characters", statsPrefixProperty, s)
		}
	}
	return choice, nil
}
