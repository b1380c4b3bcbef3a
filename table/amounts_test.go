//go:build !race

package table

import "testing"

// longTables says whether tables of a million rows are compared row for row: they are.
const longTables = true

// How many random tables are pruned, and the most rows that a random file has.
const (
	prunedTables = 24
	mostRows     = 9000
)

// long marks a test that takes many times as long with the race detector.
func long(testing.TB) {}
