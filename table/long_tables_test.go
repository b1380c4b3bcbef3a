//go:build !race

package table

// longTables says whether tables of a million rows are compared row for row: they are.
const longTables = true
