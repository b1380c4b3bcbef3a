package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// twoRounds has a contender that takes three times the processor time of the first in one round and twice in the other.
func twoRounds() report {
	return report{Command: "make bench", Rows: []result{{Name: "work", Contenders: []samples{
		{Name: "Sluice", Runs: []sample{{Wall: 1, CPU: 1, Records: 1000, RSS: 2e6, Bytes: 3e6}, {Wall: 4, CPU: 2, Records: 1000, RSS: 2e6, Bytes: 3e6}}},
		{Name: "other", Runs: []sample{{Wall: 2, CPU: 3}, {Wall: 4, CPU: 4}}},
	}}}}
}

func TestRatiosAreTakenWithinARound(t *testing.T) {
	var got []string
	for line := range strings.Lines(twoRounds().markdown()) {
		if strings.HasPrefix(line, "|") {
			got = append(got, line)
		}
	}
	want := []string{
		"| work | Sluice | 1 | 1 | 1.50 (1.00–2.00) | 2.50 (1.00–4.00) | 0.75 | 2.00 | 3.00 |\n",
		"|  | other | **2.50 (2.00–3.00)** | **1.50 (1.00–2.00)** | 3.50 (3.00–4.00) | 3.00 (2.00–4.00) |  | 0.0000 |  |\n",
	}
	if diff := cmp.Diff(want, got[2:]); diff != "" {
		t.Error(diff)
	}
}

func TestResultsReplaceThoseInADocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n")
	r := twoRounds()
	if err := r.into(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("before\n<!-- bench -->\n"+r.markdown()+"<!-- /bench -->\nafter\n", string(got)); diff != "" {
		t.Error(diff)
	}
	write("no place\n")
	if err := r.into(path); err == nil || !strings.Contains(err.Error(), "no place for results") {
		t.Error(err)
	}
}
