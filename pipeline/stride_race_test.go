//go:build race

package pipeline_test

// stride is between the crash points that are tried. The race detector makes each several times as slow, and looks for
// something else; the run without it tries all.
const stride = 11

// longHistory is the number of versions of the longest log.
const longHistory = 10_000
