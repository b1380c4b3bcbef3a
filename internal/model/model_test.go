package model

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

const (
	histories = 2  // of an ordinary run
	steps     = 30 // of each
)

// TestRandomHistoriesAreThoseOfTheModel takes random steps from a seed on; under make chaos, for a tenth of its time.
func TestRandomHistoriesAreThoseOfTheModel(t *testing.T) {
	first := seed(t)
	end, many := chaosEnd(t)
	for n := uint64(0); many && time.Now().Before(end) || !many && n < histories; n++ {
		ok := t.Run(fmt.Sprintf("SLUICE_MODEL_SEED=%d", first+n), func(t *testing.T) {
			w := makeWorld(t, first+n)
			for range steps {
				w.step()
			}
			w.checkFolder()
			w.checkLog()
			w.checkSource()
		})
		if !ok {
			return
		}
	}
}

func seed(tb testing.TB) uint64 {
	tb.Helper()
	text := os.Getenv("SLUICE_MODEL_SEED")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("SLUICE_MODEL_SEED=%q: write a number", text)
	}
	return n
}

// chaosEnd is when to stop, if make chaos (SLUICE_CHAOS) says for how long faults are to go on.
func chaosEnd(tb testing.TB) (end time.Time, many bool) {
	tb.Helper()
	text := os.Getenv("SLUICE_CHAOS")
	if text == "" {
		return end, false
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		tb.Fatalf("SLUICE_CHAOS=%q: write a duration such as 1h", text)
	}
	return time.Now().Add(d / 10), true
}
