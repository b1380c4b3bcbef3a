//go:build race

package table

// longTables says whether tables of a million rows are compared row for row. With the race detector they are not.
const longTables = false
