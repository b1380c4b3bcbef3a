package batch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// quiet is a source that has few records or none, which looks of some length tell.
type quiet struct {
	source.Source
	look    time.Duration
	records int64
	looks   []time.Time
	waits   []time.Duration // of Await
	enough  func() bool     // ends the run
	stop    context.CancelFunc
}

func (q *quiet) Next(context.Context, source.Limits) (source.Planned, error) {
	q.looks = append(q.looks, time.Now())
	if q.enough() {
		q.stop()
		return source.Planned{}, nil
	}
	time.Sleep(q.look)
	if q.records == 0 {
		return source.Planned{}, nil
	}
	return source.Planned{Records: q.records, Ranges: []offsetlog.Range{{Partition: "p", To: q.records}}}, nil
}

func (q *quiet) Await(ctx context.Context, longest time.Duration) error {
	q.waits = append(q.waits, longest)
	return source.Pause(ctx, longest)
}

// run runs a pipeline until the source has had so many looks.
func (q *quiet) run(t *testing.T, looks int, s Settings) {
	t.Helper()
	q.enough = func() bool { return len(q.looks) == looks }
	ctx, cancel := context.WithCancel(t.Context())
	q.stop = cancel
	e := New(Config{Source: q, Settings: s})
	e.worked, e.committedAt = true, time.Now()
	m := e.beginMaintenance(ctx)
	defer m.end(false)
	if err := e.loop(ctx, 0, m); err != context.Canceled {
		t.Errorf("the loop ended with %v", err)
	}
}

func TestLooksThatFindNothingTakeLittleOfTheTime(t *testing.T) {
	for _, c := range []struct{ look, poll, want time.Duration }{
		{look: time.Millisecond, want: defaultPoll},
		{look: 20 * time.Millisecond, want: 4 * time.Second},
		{look: time.Second, want: longestPoll},
		{look: time.Second, poll: time.Minute, want: time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := quiet{look: c.look}
			q.run(t, 2, Settings{Trigger: Trigger{Kind: Continuous}, Poll: c.poll})
			if len(q.waits) == 0 || q.waits[0] != c.want {
				t.Errorf("after a look of %v, polled each %v: waits of %v, want %v", c.look, c.poll, q.waits, c.want)
			}
		})
	}
}

func TestFewRecordsWaitNoLongerThanTheirDelay(t *testing.T) {
	for _, delay := range []time.Duration{10 * time.Millisecond, 250 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			q := quiet{records: 3}
			q.run(t, int(delay/fewPause)+2, Settings{Trigger: Trigger{Kind: Continuous}, MinRecords: 1000, MaxDelay: delay})
			if last := q.looks[len(q.looks)-1].Sub(begun); last != delay {
				t.Errorf("the look after a delay of %v came after %v", delay, last)
			}
			if len(q.waits) > 1 { // but for that after the last look
				t.Error("it waited for what is there")
			}
		})
	}
}

func TestIntervalLooksAtFixedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		q := quiet{look: 15 * time.Millisecond}
		q.run(t, 4, Settings{Trigger: Trigger{Kind: Interval, Every: 10 * time.Millisecond}})
		for i, at := range q.looks {
			if want := time.Duration(i) * 20 * time.Millisecond; at.Sub(begun) != want {
				t.Errorf("look %d after %v, want %v", i, at.Sub(begun), want)
			}
		}
	})
}
