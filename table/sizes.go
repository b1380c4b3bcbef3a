package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Properties that say how large data files, their row groups and their pages should get.
const (
	targetSizeProperty = "delta.targetFileSize"
	groupSizeProperty  = "sluice.parquet.rowGroupSize"
	pageSizeProperty   = "sluice.parquet.pageSize"
)

// What they are unless the table says otherwise, in bytes.
const (
	defaultTargetSize = 128 << 20
	groupBytes        = 16 << 20 // written at once: small enough that who decodes is not held up
	filePageBytes     = 1 << 20
)

// mostPageBytes is how large pages may be asked for: they lie in memory that no budget counts, before and after compression.
const mostPageBytes = 16 << 20

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

// targetSizeOf returns the bytes after which an append begins the next file of a partition.
func targetSizeOf(properties map[string]string) (int64, error) {
	return sizeOf(properties, targetSizeProperty, defaultTargetSize)
}

// groupSizeOf returns the bytes of memory after which a file's next row group begins.
func groupSizeOf(properties map[string]string) (int64, error) {
	return sizeOf(properties, groupSizeProperty, groupBytes)
}

// pageSizeOf returns the bytes before compression after which a column's next page begins.
func pageSizeOf(properties map[string]string) (int64, error) {
	n, err := sizeOf(properties, pageSizeProperty, filePageBytes)
	if err == nil && n > mostPageBytes {
		return 0, fmt.Errorf("table property %s is %q; pages have at most 16mb", pageSizeProperty, properties[pageSizeProperty])
	}
	return n, err
}

// sizeOf reads a property that is a number of bytes, or has a unit (100mb).
func sizeOf(properties map[string]string, property string, otherwise int64) (int64, error) {
	text, ok := properties[property]
	if !ok {
		return otherwise, nil
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
		return 0, fmt.Errorf("table property %s is %q; set it to a size such as %dmb", property, text, otherwise>>20)
	}
	return n * unit, nil
}
