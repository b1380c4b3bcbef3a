package table

import (
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// RowsOf is the number of rows of a data file as its add action tells it, -1 when it does not.
func RowsOf(add *commitlog.Add) int64 {
	if s := parseStats(schema.StructOf(), add.Stats); s != nil {
		return s.Rows
	}
	return -1
}
