// Package seqtest has tests look at all that a sequence goes through.
package seqtest

import (
	"iter"
	"testing"
)

// All is what a sequence goes through; an error in it ends the test.
func All[T any](tb testing.TB, seq iter.Seq2[T, error]) []T {
	tb.Helper()
	var all []T
	for v, err := range seq {
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}
