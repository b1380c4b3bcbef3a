package proof

import (
	"fmt"
	"testing"
	"time"
)

// roundTime is after how long tables are begun anew, so that checking them stays affordable.
const roundTime = 5 * time.Minute

func TestEachRecordIsThereOnceUnderAllFaultsAtOnce(t *testing.T) {
	counts := tally{}
	left := max(chaosTime(t), 15*time.Second)
	for round := 1; left > 0 && !t.Failed(); round++ {
		t.Run(fmt.Sprintf("round-%d", round), func(t *testing.T) {
			g := newRig(t, counts, kafkaToS3, kafkaToDisk, quarantined, localCheckpoint, together)
			for begun := time.Now(); time.Since(begun) < min(left, roundTime); {
				g.make(choose(g.r))
			}
			g.finish()
		})
		left -= roundTime
		t.Logf("after round %d:%s", round, counts)
	}
}

// under makes faults again and again.
func under(t *testing.T, times int, faults []fault, lay ...layout) {
	t.Helper()
	g := newRig(t, tally{}, lay...)
	for range times {
		for _, f := range faults {
			g.work()
			g.make(f)
		}
	}
	g.finish()
	t.Log(g.tally)
}

func TestS3ServerKilledUnderLoadLosesAndDoublesNothing(t *testing.T) {
	under(t, either(t, 2, 30), []fault{killServer}, kafkaToS3, quarantined)
}

func TestSlowDownStormIsWeathered(t *testing.T) {
	under(t, either(t, 1, 20), []fault{slowDown}, kafkaToS3, together)
}

func TestStallsAndResetsOnTheWayToS3LoseAndDoubleNothing(t *testing.T) {
	under(t, either(t, 1, 10), []fault{s3Stalls, s3Resets, s3Swallowed}, kafkaToS3, localCheckpoint)
}
