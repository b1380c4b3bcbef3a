package table

import (
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// RowsOf is the number of rows of a data file, those that have been deleted included, by its statistics in the log; -1 when these
// do not tell.
func RowsOf(add *commitlog.Add) int64 { return recordsIn(add.Stats) }

// RowsLeft is the number of rows of a data file that have not been deleted, by its statistics in the log; -1 when these do not
// tell.
func RowsLeft(stats string, deleted *commitlog.DeletionVector) int64 {
	rows := recordsIn(stats)
	if rows >= 0 && deleted != nil {
		return rows - deleted.Cardinality
	}
	return rows
}

// recordsIn is numRecords of add.stats; -1 when there are no statistics, or none that can be read. Writers put it first: then the
// rest is not looked at, since tables have millions of files.
func recordsIn(text string) int64 {
	if rest, first := strings.CutPrefix(text, `{"numRecords":`); first {
		if end := strings.IndexAny(rest, ",}"); end >= 0 {
			if n, err := strconv.ParseInt(rest[:end], 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	if s := parseStats(schema.StructOf(), text); s != nil {
		return s.Rows
	}
	return -1
}
