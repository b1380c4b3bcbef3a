//go:build !race

package pipeline_test

// stride is between the crash points that are tried: all of them are.
const stride = 1

// longHistory is the number of versions of the longest log.
const longHistory = 100_000
