package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// twoRounds has a contender that takes three times the processor time of the first in one round and twice in the other, and one that does a
// tenth of the work in as much time.
func twoRounds() report {
	return report{Command: "make bench", Rows: []result{{Name: "work", Contenders: []samples{
		{Name: "Sluice", Runs: []sample{{Wall: 1, CPU: 1, Records: 1000, RSS: 2e6, Bytes: 3e6}, {Wall: 4, CPU: 2, Records: 1000, RSS: 2e6, Bytes: 3e6}}},
		{Name: "other", Runs: []sample{{Wall: 2, CPU: 3}, {Wall: 4, CPU: 4}}},
		{Name: "a part", Runs: []sample{{Wall: 1, CPU: 1, Records: 100}, {Wall: 4, CPU: 2, Records: 100}}},
	}}}}
}

func TestRatiosAreTakenWithinARoundAndARecord(t *testing.T) {
	var got []string
	for line := range strings.Lines(twoRounds().document().markdown()) {
		if strings.HasPrefix(line, "|") {
			got = append(got, line)
		}
	}
	want := []string{
		"| work | Sluice | 1 | 1 | 1.50 (1.00–2.00) | 2.50 (1.00–4.00) | 0.75 | 2.00 | 3.00 | 1 |\n",
		"|  | other | **2.50 (2.00–3.00)** | **1.50 (1.00–2.00)** | 3.50 (3.00–4.00) | 3.00 (2.00–4.00) |  |  |  |  |\n",
		"|  | a part | **10.0 (10.0–10.0)** | **10.0 (10.0–10.0)** | 1.50 (1.00–2.00) | 2.50 (1.00–4.00) | 0.0750 |  |  |  |\n",
	}
	if diff := cmp.Diff(want, got[2:]); diff != "" {
		t.Error(diff)
	}
}
