package commitlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProtocolIsUpgradedByFeatures(t *testing.T) {
	list := func(names string) []string { return strings.Split(names, " ") }
	for name, c := range map[string]struct {
		from     Protocol
		features string
		want     Protocol
	}{
		"what it has":             {Protocol{1, 2, nil, nil}, "appendOnly invariants", Protocol{1, 2, nil, nil}},
		"implied by a version":    {Protocol{1, 4, nil, nil}, "changeDataFeed", Protocol{1, 4, nil, nil}},
		"the lowest legacy one":   {Protocol{1, 1, nil, nil}, "appendOnly", Protocol{1, 2, nil, nil}},
		"for writers":             {Protocol{1, 2, nil, nil}, "changeDataFeed", Protocol{1, 7, nil, list("appendOnly invariants changeDataFeed")}},
		"for readers":             {Protocol{1, 2, nil, nil}, "deletionVectors", Protocol{3, 7, list("deletionVectors"), list("appendOnly invariants deletionVectors")}},
		"from version 1":          {Protocol{1, 1, nil, nil}, "deletionVectors", Protocol{3, 7, list("deletionVectors"), list("deletionVectors")}},
		"from column mapping":     {Protocol{2, 5, nil, nil}, "inCommitTimestamp", Protocol{3, 7, list("columnMapping"), list("appendOnly invariants checkConstraints changeDataFeed generatedColumns columnMapping inCommitTimestamp")}},
		"for readers, by name":    {Protocol{3, 7, list("timestampNtz"), list("timestampNtz")}, "deletionVectors appendOnly deletionVectors", Protocol{3, 7, list("timestampNtz deletionVectors"), list("timestampNtz deletionVectors appendOnly")}},
		"for writers, by name":    {Protocol{1, 7, nil, list("appendOnly")}, "changeDataFeed", Protocol{1, 7, nil, list("appendOnly changeDataFeed")}},
		"for readers, by writers": {Protocol{1, 7, nil, list("appendOnly")}, "typeWidening", Protocol{3, 7, list("typeWidening"), list("appendOnly typeWidening")}},
	} {
		got, err := c.from.With(list(c.features)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if err := got.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, feature := range []string{"rowTracking", "nothing"} {
		if _, err := (Protocol{MinReaderVersion: 1, MinWriterVersion: 2}).With(feature); err == nil || !strings.Contains(err.Error(), feature) {
			t.Errorf("%s: %v", feature, err)
		}
	}
}
