package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// targetSizeProperty says how large data files should get.
const targetSizeProperty = "delta.targetFileSize"

const defaultTargetSize = 128 << 20

// sizeUnits are Spark's, longest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"kb", 1 << 10},
	{"mb", 1 << 20},
	{"gb", 1 << 30},
	{"tb", 1 << 40},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"b", 1},
}

// targetSizeOf returns the bytes after which an append begins the next file of a partition: 128 MiB unless the table's
// properties say otherwise, as a number of bytes or with a unit (100mb).
func targetSizeOf(properties map[string]string) (int64, error) {
	text, ok := properties[targetSizeProperty]
	if !ok {
		return defaultTargetSize, nil
	}
	number, unit := strings.ToLower(strings.TrimSpace(text)), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("table property %s is %q; set it to a size such as 128mb", targetSizeProperty, text)
	}
	return n * unit, nil
}
