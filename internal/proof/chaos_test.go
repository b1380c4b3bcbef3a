package proof

import (
	"os"
	"testing"
	"time"
)

// chaosTime is how long make chaos (SLUICE_CHAOS) wants the faults to go on; 0 in an ordinary run, which has as much of
// each as CI has time for.
func chaosTime(tb testing.TB) time.Duration {
	tb.Helper()
	text := os.Getenv("SLUICE_CHAOS")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		tb.Fatalf("SLUICE_CHAOS=%q: write a duration such as 1h", text)
	}
	return d
}

// either returns few in an ordinary run, and many under make chaos.
func either[T any](tb testing.TB, few, many T) T {
	tb.Helper()
	if chaosTime(tb) > 0 {
		return many
	}
	return few
}
