package pipeline

import (
	"testing"
	"time"
)

func TestSmallFilesAreLookedForWhenItMayBeWorthIt(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		worth        bool
		files, young int64
		took         time.Duration
		small        int64
		pause        time.Duration
	}{
		"all are rewritten":                        {true, 60, 0, time.Second, 0, looksShare * time.Second},
		"a few are young":                          {true, 60, 7, 0, 7, 0},
		"too few":                                  {false, 20, 7, time.Second, 27, looksShare * time.Second},
		"enough, once they are older":              {false, 0, 50, time.Second, 50, 5 * time.Minute},
		"enough, once the young ones are older":    {false, 30, 20, time.Second, 50, 5 * time.Minute},
		"a list that takes longer than they ripen": {false, 30, 20, time.Minute, 50, looksShare * time.Minute},
	} {
		c := &compactions{when: Compact{MinFiles: 50, MinAge: 5 * time.Minute}, now: func() time.Time { return now }}
		c.looksLater(tt.worth, tt.files, tt.young, tt.took)
		if pause := c.next.Sub(now); c.small != tt.small || pause != tt.pause {
			t.Errorf("%s: %d to come, in %v; want %d, in %v", name, c.small, pause, tt.small, tt.pause)
		}
	}
}
