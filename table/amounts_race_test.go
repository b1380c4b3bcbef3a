//go:build race

package table

import "testing"

// longTables says whether tables of a million rows are compared row for row. With the race detector they are not.
const longTables = false

// How many random tables are pruned, and the most rows that a random file has.
const (
	prunedTables = 4
	mostRows     = 900
)

// long marks a test that takes many times as long with the race detector.
func long(tb testing.TB) {
	tb.Helper()
	tb.Skip("with the race detector this takes long; make test runs it without")
}
