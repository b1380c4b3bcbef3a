package source_test

import (
	"sync"
	"testing"

	"github.com/sluicedata/sluice/source"
)

func TestBlockIsFreedOnceByWhoeverGivesItUpLast(t *testing.T) {
	for holders := range 4 {
		freed := 0
		b := &source.Block{Free: func() { freed++ }}
		for round := range 2 { // it is used again
			var releasing sync.WaitGroup
			for range holders {
				b.Retain()
			}
			if freed != round {
				t.Fatalf("%d holders, round %d: freed %d times while it is held", holders, round, freed)
			}
			for range holders + 1 {
				releasing.Go(b.Release)
			}
			releasing.Wait()
			if freed != round+1 {
				t.Errorf("%d holders, round %d: freed %d times", holders, round, freed)
			}
		}
	}
}
