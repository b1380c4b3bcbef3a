package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/offsetlog"
)

func TestParsePartition(t *testing.T) {
	for _, good := range []string{"orders/0", "a.b-c_D/12", "x/2147483647"} {
		p, err := parsePartition(good)
		if err != nil || p.String() != good {
			t.Errorf("parsePartition(%q) = %v, %v", good, p, err)
		}
	}
	for _, bad := range []string{"", "orders", "orders/", "/1", "orders/-1", "orders/01", "orders/+1", "a/b/1", "orders/2147483648", "landing/x.json", "a b/1"} {
		if p, err := parsePartition(bad); err == nil {
			t.Errorf("parsePartition(%q) = %v, want an error", bad, p)
		}
	}
}

func TestPositionsAreTheEndsOfTheLatestIncarnation(t *testing.T) {
	const a, b = "AAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBA"
	r := func(p, id string, from, to int64) offsetlog.Range {
		return offsetlog.Range{Partition: p, ID: id, From: from, To: to}
	}
	lost := func(p, id string, from, to int64) offsetlog.Range {
		return offsetlog.Range{Partition: p, ID: id, From: from, To: to, Lost: true}
	}
	tests := []struct {
		name    string
		history [][]offsetlog.Range
		want    map[string]map[int32]int64
	}{
		{"nothing", nil, map[string]map[int32]int64{}},
		{"the newest wins", [][]offsetlog.Range{{r("t/0", a, 0, 5), r("t/1", a, 0, 0)}, {r("t/0", a, 5, 9)}}, map[string]map[int32]int64{"t": {0: 9, 1: 0}}},
		{"lost counts as covered", [][]offsetlog.Range{{lost("t/0", a, 0, 5), r("t/0", a, 5, 5)}}, map[string]map[int32]int64{"t": {0: 5}}},
		{
			"a new incarnation ends all partitions of the old one",
			[][]offsetlog.Range{{r("t/0", a, 0, 50), r("t/1", a, 0, 70)}, {r("t/0", b, 0, 3)}},
			map[string]map[int32]int64{"t": {0: 3}},
		},
		{"an id learned later is the same topic", [][]offsetlog.Range{{r("t/0", "", 0, 5)}, {r("t/0", a, 5, 6), r("t/1", a, 0, 2)}}, map[string]map[int32]int64{"t": {0: 6, 1: 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ps := positions{}
			for _, ranges := range tt.history {
				if err := ps.apply(ranges); err != nil {
					t.Fatal(err)
				}
			}
			got := map[string]map[int32]int64{}
			for topic, p := range ps {
				got[topic] = p.next
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("positions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRestoreRefusesRangesOfAnotherKindOfSource(t *testing.T) {
	for _, r := range []offsetlog.Range{{Partition: "landing/a.ndjson", To: 4}, {Partition: "t/0", From: 3, To: 2}, {Partition: "t/0", From: -1, To: 2}} {
		if err := (positions{}).apply([]offsetlog.Range{r}); err == nil {
			t.Errorf("%v: no error", r)
		}
	}
}
