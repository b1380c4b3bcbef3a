package kafka

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestOutageIsSaidAtOnceThenSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		o := newOutages(func(s string) { said = append(said, s) })
		for range 3600 {
			o.report("read", "read: refused")
			time.Sleep(time.Second)
		}
		if len(said) < 5 || len(said) > 20 {
			t.Errorf("%d notices in an hour: %q", len(said), said)
		}
		o.over([]string{"read", "never reported"})
		if last := said[len(said)-1]; last != "read: works again after 1h0m0s" {
			t.Errorf("last notice %q", last)
		}
	})
}
