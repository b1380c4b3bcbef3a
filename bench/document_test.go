package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resultsOf is a run that took so many seconds for each of some rows.
func resultsOf(command string, seconds float64, rows ...string) report {
	r := report{Command: command}
	for _, name := range rows {
		r.Rows = append(r.Rows, result{Name: name, Means: "wall: all", Contenders: []samples{
			{Name: "Sluice", Runs: []sample{{Wall: seconds, CPU: 1}}},
			{Name: "other", Runs: []sample{{Wall: seconds, CPU: 2}}},
		}})
	}
	return r
}

// into writes the results of runs into a document, one after the other, and returns what it then has between the marks.
func into(t *testing.T, names []string, reports ...report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(path, []byte("before\n<!-- bench -->\n<!-- /bench -->\nafter\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if err := r.document().into(path, names); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, before := strings.CutPrefix(string(text), "before\n<!-- bench -->\n")
	got, after := strings.CutSuffix(got, "<!-- /bench -->\nafter\n")
	if !before || !after {
		t.Fatalf("what is around the results has changed:\n%s", text)
	}
	return got
}

func TestRowsThatWereNotRunStayWithTheRunThatMadeThem(t *testing.T) {
	names := []string{"a", "b", "c"}
	first, second := resultsOf("first", 1, "c", "b"), resultsOf("second", 2, "b", "a")
	want := document{second.document()[1], second.document()[0], first.document()[0]}
	if diff := cmp.Diff(want.markdown(), into(t, names, first, second)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(second.document()[:1].markdown(), into(t, []string{"b"}, first, second)); diff != "" {
		t.Errorf("rows that are no more: %s", diff)
	}
}

func TestRowThatWasLeftOutReplacesNoResult(t *testing.T) {
	names := []string{"a", "b"}
	measured := resultsOf("first", 1, "a")
	without := report{Command: "second", Rows: []result{{Name: "a", LeftOut: "no Spark"}, {Name: "b", LeftOut: "no Spark"}}}
	got := into(t, names, measured, without)
	want := document{measured.document()[0], without.document()[1]}
	if diff := cmp.Diff(want.markdown(), got); diff != "" {
		t.Error(diff)
	}
	if again := into(t, names, measured, without, resultsOf("third", 3, "b")); strings.Contains(again, "left out") {
		t.Error(again)
	}
}

func TestResultsThatAreNotUnderstoodAreNotLost(t *testing.T) {
	for name, text := range map[string]string{
		"no place for results":  "nothing\n",
		"3 cells instead of 10": "<!-- bench -->\n| a | b | c |\n<!-- /bench -->\n",
		"name no run":           "<!-- bench -->\n| a | b | c | d | e | f | g | h | i | 1 |\n<!-- /bench -->\n",
		"without a name":        "<!-- bench -->\n|  | b | c | d | e | f | g | h | i |  |\n<!-- /bench -->\n",
	} {
		path := filepath.Join(t.TempDir(), "doc.md")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := resultsOf("run", 1, "a").document().into(path, []string{"a"}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != text {
			t.Errorf("%s: %q, %v", name, left, err)
		}
	}
}
