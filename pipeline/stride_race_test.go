//go:build race

package pipeline_test

// stride is between the crash points that are tried. The race detector makes each several times as slow, and looks for
// something else; the run without it tries all.
const stride = 11
