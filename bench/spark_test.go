package main

import (
	"strings"
	"testing"
)

func TestWarmBatchesAreThoseBehindTheWarmUp(t *testing.T) {
	const four = `[{"records":10,"wall":9,"cpu":9},{"records":10,"wall":9,"cpu":9},{"records":10,"wall":1,"cpu":2},{"records":7,"wall":3,"cpu":4}]`
	got, err := warmOf([]byte(four), 37)
	if err != nil || got.Records != 17 || got.Wall != 4 || got.CPU != 6 {
		t.Errorf("%+v, %v", got, err)
	}
	for printed, want := range map[string]string{
		`[{"records":10,"wall":9,"cpu":9},{"records":27,"wall":9,"cpu":9}]`: "0 are in warm ones",
		strings.Replace(four, "7", "6", 1):                                  "1 records are missing",
		"Exception":                                                         "no list of batches",
	} {
		if _, err := warmOf([]byte(printed), 37); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", printed, err)
		}
	}
}
