package retry_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicedata/sluice/storage/retry"
)

func TestOutageIsSaidAtOnceThenSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		o := retry.NewOutages(func(s string) { said = append(said, s) })
		begun := time.Now()
		for range 3600 {
			o.Report("read", begun, errors.New("read: refused"))
			time.Sleep(time.Second)
		}
		if len(said) < 5 || len(said) > 20 {
			t.Errorf("%d notices in an hour: %q", len(said), said)
		}
		o.Over("read", "never reported")
		if last := said[len(said)-1]; last != "read: works again after 1h0m0s" {
			t.Errorf("last notice %q", last)
		}
	})
}

func TestOldestOutageIsThatOfTheEarliestFailure(t *testing.T) {
	o := retry.NewOutages(nil)
	if _, waiting := o.Oldest(); waiting {
		t.Error("an outage of nothing")
	}
	begun := time.Now()
	early, late := errors.New("early"), errors.New("late")
	o.Report("late", begun.Add(time.Second), late)
	o.Report("early", begun, errors.New("at first"))
	o.Report("early", begun.Add(time.Minute), early)
	if oldest, waiting := o.Oldest(); !waiting || oldest.What != "early" || !oldest.Since.Equal(begun) || oldest.Err != early {
		t.Errorf("%v, %v", oldest, waiting)
	}
	o.Over("early")
	if oldest, waiting := o.Oldest(); !waiting || oldest.Err != late {
		t.Errorf("%v, %v", oldest, waiting)
	}
}
