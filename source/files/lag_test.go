package files

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/source"
)

func TestLagWhileBatchesAreMade(t *testing.T) {
	in := newMemory()
	const files = 300
	for i := range files {
		in.write(t, fmt.Sprintf("%03d", i), "x\n", at(i))
	}
	s := open(t, in, nil)
	restore(t, s, nil)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for last := int64(0); ; {
				lag, err := s.Lag(t.Context())
				if err != nil || lag[0].End != files || lag[0].Position < last {
					t.Errorf("%+v, %v", lag, err)
					return
				}
				last = lag[0].Position
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for batch := int64(0); ; batch++ {
		planned := next(t, s, source.Limits{MaxFiles: 7})
		if len(planned.Ranges) == 0 {
			break
		}
		s.Advance(batch, planned.Ranges)
	}
	close(done)
	wg.Wait()
	if lag, err := s.Lag(t.Context()); err != nil || lag[0].Position != files {
		t.Errorf("in the end %+v, %v", lag, err)
	}
}

func TestLagAfterAReplayedBatchIsCountedAnew(t *testing.T) {
	in := newMemory()
	for i, name := range []string{"a", "b", "c"} {
		in.write(t, name, "x\n", at(i))
	}
	s := open(t, in, nil)
	restore(t, s, nil)
	planned := next(t, s, source.Limits{})
	s.Advance(0, planned.Ranges[1:]) // another process planned the batch, with other files
	lag, err := s.Lag(t.Context())
	if err != nil || lag[0].Position != 2 || lag[0].End != 3 {
		t.Errorf("%+v, %v", lag, err)
	}
	if got := partitions(next(t, s, source.Limits{})); len(got) != 1 || got[0] != "landing/a" {
		t.Errorf("planned %q", got)
	}
}
